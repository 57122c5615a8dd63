import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type TestBrowser, type TestPage, timeoutMs } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { GrowingEvents, quick } from '../support/live.ts';
import { createFolder } from '../support/persisted.ts';
import { runShell } from '../support/process.ts';
import type { JsonObject } from '../support/replies.ts';
import { type Handler, route, type UpstreamRequest } from '../support/routes.ts';
import { dashboard, listedDashboard, listedProject, plugin, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** The page of examples/web as it is built, over a gateway that can go away and a REST API that can be slow. */
export interface LiveExample {
  readonly url: string;
  readonly upstream: Upstream;
  streams(): Promise<number>;
  /** Starts the gateway again at the same address, with other settings or the same. */
  startGateway(options?: Partial<GatewayOptions>): Promise<void>;
  stopGateway(): Promise<void>;
  /** Adds a project with two dashboards, and gives its id; `details` answers for each of these by id. */
  addProject(events?: Pick<GrowingEvents, 'list'>, details?: Handler): number;
}

/** The browser and the example page that the tests share. */
export interface Live {
  readonly browser: TestBrowser;
  readonly example: LiveExample;
}

/** Options of assertions that wait for the page or the gateway, long enough for a busy machine. */
export const soon = { timeout: timeoutMs } as const;

/** A project in the REST API: its events, and the details of its dashboards. */
interface Project {
  readonly events: Pick<GrowingEvents, 'list'>;
  readonly details: Handler;
}

type Projects = ReadonlyMap<string, Project>;

const manifest = fileURLToPath(new URL('../../examples/web/src/generated/persisted-documents.json', import.meta.url));

/** The content security policy with which a careful operator would serve the page. */
const policy = `<meta http-equiv="content-security-policy" content="default-src 'self'; img-src 'self' data:">`;

/** Builds the page, and serves it as Vite does before a release: with the proxy of its dev server. */
export async function startLiveExample(started: AsyncDisposableStack): Promise<LiveExample> {
  const folder = started.use(createFolder());
  const [gatewayPort, port] = [await freePort(), await freePort()];
  const build = `exec node_modules/.bin/vite build --outDir '${folder.path}' --emptyOutDir`;
  const building = started.use(runShell(build, {}, 'examples/web/'));
  const projects = new Map<string, Project>();
  const upstream = started.use(await startUpstream(restApi(projects)));
  upstream.release();
  const gateways = gatewaysAt(gatewayPort, upstream);
  started.defer(() => gateways.stopGateway());
  await gateways.startGateway();
  expect(await building.exit()).toBe(0);
  const html = readFileSync(join(folder.path, 'index.html'), 'utf8');
  expect(html).toContain('<head>');
  folder.write('index.html', html.replace('<head>', `<head>${policy}`));
  const serving = started.use(
    runShell(
      `exec node_modules/.bin/vite preview --outDir '${folder.path}' --port ${port} --strictPort`,
      { GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`, API_KEY: 'phx_test', NO_COLOR: '1' },
      'examples/web/',
    ),
  );
  await serving.printed(/Local: +http/);
  return {
    ...gateways,
    url: `http://127.0.0.1:${port}/`,
    upstream,
    addProject: (events = someEvents(), details = ({ params }) => dashboard(Number(params['dashboard']))) => {
      // Two digits, so that no id is the beginning of another.
      const id = projects.size + 11;
      projects.set(`${id}`, { events, details });
      return id;
    },
  };
}

/** One gateway after the other at the same address, each of which runs nothing but the documents of the page. */
function gatewaysAt(port: number, upstream: Upstream): Pick<LiveExample, 'streams' | 'startGateway' | 'stopGateway'> {
  let gateway: TestGateway | undefined;
  const usual = {
    persisted: { files: manifest, mode: 'only' },
    live: { ...quick, pollMs: 50 },
    // Tests hold answers back for as long as a busy machine takes to look at the page.
    operationDeadlineMs: 60_000,
  } as const;
  return {
    streams: async () => {
      const metrics = await fetch(new URL('/metrics', gateway?.url));
      return Number(/^gateway_streams (\d+)$/m.exec(await metrics.text())?.[1]);
    },
    startGateway: async (options) => {
      gateway = await startGateway(upstream, { ...usual, ...options }, { port });
    },
    stopGateway: async () => {
      const stopped = gateway;
      gateway = undefined;
      await stopped?.[Symbol.asyncDispose]();
    },
  };
}

function restApi(projects: Projects): Handler {
  const projectOf = ({ params }: UpstreamRequest): Project =>
    projects.get(params['project'] ?? '') ?? expect.fail(`expected the project ${params['project']}`);
  return route({
    'GET /api/projects/': () => pageOf([...projects.keys()].map((id) => listedProject(Number(id)))),
    'GET /api/projects/:project/': ({ params }) => project(Number(params['project'])),
    'GET /api/projects/:project/dashboards/': pageOf([1, 2].map((id) => listedDashboard(id))),
    'GET /api/projects/:project/dashboards/:dashboard/': (request) => projectOf(request).details(request),
    'GET /api/projects/:project/events/': (request) => projectOf(request).events.list(request),
    'GET /api/organizations/:organization/plugins/': pageOf([plugin(1)]),
  });
}

function pageOf(results: readonly JsonObject[]): JsonObject {
  return { count: results.length, next: null, previous: null, results };
}

/** Opens the page of a project. */
export async function openProject(page: Page, { url }: LiveExample, id: number): Promise<void> {
  await page.goto(`${url}#${id}`);
}

/** An empty page for one test. */
export async function openPage({ browser }: Live): Promise<TestPage> {
  const opened = await browser.open();
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** A page for one test that shows a project of its own, and the project's events. */
export interface Followed extends TestPage {
  readonly events: GrowingEvents;
  readonly id: number;
}

/**
 * Opens the page of a new project that has events, and waits until it follows new ones. `prepare` runs before the page
 * is opened. The handler that `list` returns answers in place of the events.
 */
export async function followEvents(
  live: Live,
  prepare: (page: Page) => Promise<void> = () => Promise.resolve(),
  list?: (events: GrowingEvents) => Handler,
): Promise<Followed> {
  const { example } = live;
  const opened = await openPage(live);
  const { page } = opened;
  const events = someEvents();
  const id = example.addProject({ list: list?.(events) ?? events.list });
  await prepare(page);
  await openProject(page, example, id);
  await page.getByText('10 events loaded').waitFor();
  await page.getByRole('status').getByText('Live').waitFor();
  await untilPolled(example, id);
  return { ...opened, events, id };
}

/**
 * Waits until the gateway knows the events of a project, so that later ones are new to it. The first `before` requests
 * to the REST API do not count.
 */
export async function untilPolled({ upstream }: LiveExample, id: number, before = 0): Promise<void> {
  // Only the second poll asks for events after a time: by then the first poll has been answered.
  const isSecond = (request: string): boolean => request.includes(`/${id}/events/`) && request.includes('after=');
  await expect.poll(() => upstream.requests.slice(before).some(isSecond), soon).toBe(true);
}

/** The streams that a page asks for from now on. */
export function streamsOf(page: Page): readonly unknown[] {
  const streams: unknown[] = [];
  page.on('request', (request) => {
    if (request.headers()['accept'] === 'text/event-stream') streams.push(request.postDataJSON());
  });
  return streams;
}

/** The events of a project that has captured twelve. */
function someEvents(): GrowingEvents {
  const events = new GrowingEvents();
  for (let second = 10; second < 22; second += 1) events.add(1, `2024-05-01T09:00:${second}Z`);
  return events;
}

/** The names of the events in the table that `addNew` added. */
export async function shownOf(page: Page): Promise<readonly string[]> {
  const names = await page.locator('tbody tr td:first-child').allInnerTexts();
  return names.filter((name) => name.startsWith('new '));
}

/** Adds events, one a second, and returns what they are called, the newest first. */
export function addNew(events: GrowingEvents, from: number, count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, index) => `new ${from + index}`);
  for (const [index, name] of names.entries()) {
    const time = new Date(Date.parse('2024-05-01T10:00:00Z') + (from + index) * 1000).toISOString();
    events.add(1, time, { event: name });
  }
  return names.toReversed();
}
