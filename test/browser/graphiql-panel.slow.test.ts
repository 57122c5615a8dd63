import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgents } from '../support/agents.ts';
import {
  hasChromium,
  seriousFindings,
  startBrowser,
  type TestBrowser,
  type TestPage,
  timeoutMs,
} from '../support/browser.ts';
import { rowsOf } from '../support/connections.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { execute, executeUntil, replaceText } from './graphiql.ts';

const routes: Routes = {
  'GET /api/projects/1/': project(1),
  'PATCH /api/projects/1/': project(1),
  'GET /api/projects/1/dashboards/': listOf(rowsOf(2, listedDashboard)),
  'GET /api/projects/1/dashboards/:id/': async ({ params }) => {
    await rowsAreReady;
    return dashboard(Number(params['id']));
  },
};

/** Rows of dashboards are not answered before. */
let rowsAreReady = Promise.resolve();

const tiles = '{ project(id: 1) { name dashboards(first: 2) { nodes { name tiles } } } }';
const several = `query First { project(id: 1) { name } }
query Second { project(id: 1) { name dashboards(first: 2) { nodes { name } } } }`;
const settings = { explain: true, demoKey: 'phx_demo' };

function panelOf(page: Page): Locator {
  return page.getByRole('region', { name: 'REST calls', exact: true });
}

async function says(panel: Locator, text: string): Promise<void> {
  await panel.getByRole('status').getByText(text).waitFor();
}

async function rowsIn(panel: Locator): Promise<readonly (readonly string[])[]> {
  const rows = await panel.locator('tbody tr').all();
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator('th, td').allInnerTexts();
      return cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim());
    }),
  );
}

/** The numbers of operations and of plans that a gateway has counted. */
async function countsOf({ url }: TestGateway): Promise<readonly number[]> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return ['gateway_operations_total', 'gateway_plans_total'].map((name) => {
    const samples = text.split('\n').filter((line) => line.startsWith(name));
    return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  });
}

/** GraphiQL stores its tabs half a second after they have come up; here it stores nothing before the panel is open. */
const storingTabsLate = `
  const { setItem } = Storage.prototype;
  let isOpen = false;
  Storage.prototype.setItem = function (name, value) {
    if (name === 'graphiql:visiblePlugin') isOpen = true;
    if (isOpen || name !== 'graphiql:tabState') setItem.call(this, name, value);
  };`;

describe.skipIf(!hasChromium)('The panel "REST calls" of GraphiQL (needs chromium)', { timeout: 60_000 }, () => {
  const started = new AsyncDisposableStack();
  const lines: unknown[] = [];
  let browser: TestBrowser;
  let upstream: Upstream;
  let gateway: TestGateway;
  let opened: TestPage;
  let page: Page;
  let panel: Locator;

  beforeAll(async () => {
    browser = started.use(await startBrowser());
    upstream = started.use(await startUpstream(routes));
    const log = (...line: readonly unknown[]): void => void lines.push(line);
    gateway = started.use(await startGateway(upstream, { ...settings, maxUpstreamCalls: 10, log }));
    opened = started.use(await browser.open());
    page = opened.page;
    panel = panelOf(page);
    await page.addInitScript(storingTabsLate);
    await page.goto(`${gateway.url}?query=${encodeURIComponent(several)}`);
    await panel.getByRole('status').waitFor();
  }, 60_000);

  afterAll(() => started.disposeAsync());

  test('plans of several operations that the address brings the one that runs', async () => {
    await says(panel, '1 REST call.');
    // Before GraphiQL has read the operations of the text, its button has no menu and runs the first.
    const button = page.locator('button[aria-label^="Execute"][aria-haspopup="menu"]');
    const second = page.getByRole('menuitem', { name: 'Second' });
    const open = async (): Promise<boolean> => {
      if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
      return second.isVisible();
    };
    await expect.poll(open, { timeout: timeoutMs, interval: 500 }).toBe(true);
    await second.click();
    await says(panel, '2 REST calls, sent together.');
    await says(panel, '2 calls made.');
    upstream.reset();
  });

  test('plans what is typed, without a key, a REST call, an operation or a line in the log', async () => {
    const keys: (string | undefined)[] = [];
    const listen = (request: Request): unknown =>
      isOfPlan(request) && keys.push(request.headers()['authorization'], request.headers()['cookie']);
    page.on('request', listen);
    const [operations] = await countsOf(gateway);
    const logged = lines.length;
    await replaceText(page, 'query', tiles);
    await says(panel, '2–4 REST calls in 2 waves.');
    expect(await rowsIn(panel)).toEqual([
      ['GET /api/projects/{id}/ for project', '1', ''],
      ['GET /api/projects/{project_id}/dashboards/ for project.dashboards', '1', ''],
      ['GET /api/projects/{project_id}/dashboards/{id}/ for project.dashboards.nodes', '', '0–2'],
    ]);
    await panel.getByText('is in the detail view only: up to 2 calls').waitFor();
    await opened.picture('panel-plan');
    expect(await countsOf(gateway)).toEqual([operations, expect.any(Number)]);
    expect(lines).toHaveLength(logged);
    expect(new Set(keys)).toEqual(new Set([undefined]));
    expect(upstream.requests).toEqual([]);
    expect([...opened.origins]).toEqual([new URL(gateway.url).origin]);
    page.off('request', listen);
  });

  test('keeps the last plan, greyed, while the text is invalid, and says why', async () => {
    await replaceText(page, 'query', tiles);
    await says(panel, '2–4 REST calls in 2 waves.');
    await replaceText(page, 'query', '{ project(id: 1) { nam } }');
    await panel.getByText('Cannot query field "nam"').waitFor();
    await says(panel, 'Below is the last plan that the gateway made.');
    expect(await panel.locator('[data-stale=true] tbody tr').count()).toBe(3);
    await opened.picture('panel-invalid');
    await replaceText(
      page,
      'query',
      '{ project(id: 1) { name ... @defer { dashboards(first: 2) { nodes { tiles } } } } }',
    );
    await says(panel, 'The first part is sent after wave 1 of 2.');
    expect(await panel.locator('[data-stale=true]').count()).toBe(0);
    await panel.getByRole('columnheader', { name: 'Wave 1 first part' }).waitFor();
    await opened.picture('panel-defer');
  });

  test('has after a run what became of each call on the rows of the plan, and the answer is as without', async () => {
    await replaceText(page, 'query', tiles);
    await says(panel, '2–4 REST calls in 2 waves.');
    upstream.reset();
    await execute(page);
    await says(panel, '4 calls made.');
    expect(upstream.requests).toHaveLength(4);
    expect((await rowsIn(panel)).map(([, ...waves]) => waves.map((cell) => cell.replace(/[\d–]+ ms/, 'N ms')))).toEqual(
      [
        ['1 N ms', ''],
        ['1 N ms', ''],
        ['', '2 of 0–2 N ms'],
      ],
    );
    await panel.getByText('2 calls · 200').click();
    expect(await panel.getByRole('listitem').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/\/dashboards\/1\/\n200 · [\d.]+ ms/) as unknown]),
    );
    await opened.picture('panel-run');
    const response = page.locator('.graphiql-response');
    await response.getByText('Project 1').waitFor();
    expect(await response.innerText()).not.toContain('extensions');
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFindings(page, '.graphiql-plugin')).toEqual([]);
      await opened.picture(`panel-run-${colorScheme}`);
    }
  });

  test('shows the first part of an answer before what is deferred has come, and when that was', async () => {
    const details = Promise.withResolvers<void>();
    rowsAreReady = details.promise;
    await replaceText(
      page,
      'query',
      '{ project(id: 1) { parts: name dashboards(first: 2) { nodes { name ... @defer { tiles } } } } }',
    );
    await says(panel, 'The first part is sent after wave 1 of 2.');
    upstream.reset();
    await executeUntil(page, () => upstream.requests.length > 1);
    await says(panel, 'First part in');
    const response = page.locator('.graphiql-response');
    await response.getByText('"parts"').waitFor();
    expect(await response.innerText()).not.toContain('tiles');
    details.resolve();
    await response.getByText('"tiles"').first().waitFor();
    await panel.getByText(/Ran in [\d,]+ ms, first part in [\d,]+: 4 calls made\./).waitFor();
    await opened.picture('panel-parts');
  });

  test('sends a change once, when it runs, and not for its plan', async () => {
    upstream.reset();
    await replaceText(page, 'query', 'mutation { updateProject(input: { id: 1, name: "x" }) { project { name } } }');
    await panel.getByText('PATCH').waitFor();
    expect(upstream.requests).toEqual([]);
    await execute(page);
    await says(panel, '1 call made.');
    expect(upstream.requests).toEqual(['PATCH /api/projects/1/']);
  });

  test('can be opened, run and read by keyboard alone', async () => {
    await replaceText(page, 'query', '{ project(id: 1) { dashboards(first: 2) { nodes { name } } } }');
    await page.getByLabel('API key').focus();
    await tabTo(page, 'Hide REST calls');
    await page.keyboard.press('Enter');
    expect(await panel.count()).toBe(0);
    await page.keyboard.press('Enter');
    await panel.getByText('for project.dashboards').waitFor();
    await tabTo(page, 'Execute query');
    await page.keyboard.press('Enter');
    await says(panel, '1 call made.');
    await page.getByLabel('API key').focus();
    await tabTo(page, 'Waves of REST calls');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await panel.getByRole('listitem').getByText('/dashboards/?limit=2').waitFor();
  });

  test('a plan over the limit stands out', async () => {
    await replaceText(page, 'query', '{ project(id: 1) { dashboards(first: 20) { nodes { tiles } } } }');
    await says(panel, '1–22 REST calls in 2 waves, over the limit.');
    await panel.getByText('Over the limit of 10 REST calls: it may take 22, so it is refused').waitFor();
    expect(await seriousFindings(page, '.graphiql-plugin')).toEqual([]);
    await opened.picture('panel-over');
  });

  test.each([1280, 390])('shows the calls of three waves in full, %d pixels wide', async (width) => {
    const call = { operation: 'getDashboard', method: 'GET', path: '/api/projects/{project_id}/dashboards/{id}/' };
    const calls = [1, 100, 10_000].map((upper, index) => ({
      ...{
        ...call,
        lower: upper === 1 ? 1 : 0,
        upper,
        rows: 1,
        wave: index + 1,
        paths: ['projects.nodes.dashboards.nodes'],
      },
    }));
    const plan = { calls, lower: 1, upper: 10_101, rows: 20_100, objects: 10_201, waves: 3, hints: [] };
    await page.route('**/graphql', async (route) => {
      if (isOfPlan(route.request())) await route.fulfill({ json: { data: null, extensions: { explain: plan } } });
      else await route.continue();
    });
    await replaceText(page, 'query', `{ wide${width}: projects { totalCount } }`);
    await says(panel, '1–10,101 REST calls in 3 waves, over the limit.');
    await page.setViewportSize({ width, height: 844 });
    const region = panel.getByRole('region', { name: 'Waves of REST calls' });
    expect(await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await opened.picture(`panel-three-waves-${width}`);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.unroute('**/graphql');
  });

  test('asks again for a plan that did not come, and draws so much of a very wide one as stays quick, as text', async () => {
    const calls = Array.from({ length: 300 }, (_, index) => ({
      ...{ operation: 'getDashboard', method: 'GET', path: '/api/projects/{project_id}/dashboards/{id}/' },
      ...{ lower: 1, upper: 1, rows: 1, wave: 1 + (index % 20), paths: [`<b>place${index}</b>`] },
    }));
    const plan = { calls, lower: 300, upper: 300, rows: 300, objects: 300, waves: 20, hints: [] };
    await page.route('**/graphql', async (route) => {
      if (isOfPlan(route.request())) await route.fulfill({ json: { data: null, extensions: { explain: plan } } });
      else await route.continue();
    });
    await page.route('**/graphql', (route) => route.abort(), { times: 1 });
    await replaceText(page, 'query', '{ wide: projects { totalCount } }');
    await says(panel, 'The gateway cannot be reached.');
    await panel.getByRole('button', { name: 'Try again' }).click();
    await says(panel, '300 REST calls in 20 waves, over the limit.');
    await panel.getByText('and 240 more rows').waitFor();
    expect(await panel.locator('tbody tr').count()).toBe(60);
    await panel.getByText('for <b>place0</b>').waitFor();
    const waves = panel.getByRole('region', { name: 'Waves of REST calls' });
    expect(await waves.evaluate((region) => region.scrollWidth > region.clientWidth)).toBe(true);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    await opened.picture('panel-wide');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.unroute('**/graphql');
    // The only errors of the console are those of the invalid text and of the lost connection.
    expect(opened.errors.filter((error) => !/400|ERR_FAILED/.test(error))).toEqual([]);
  });

  test('says what agents read of the cost of a tool, and not while the text is another one', async () => {
    const tool = 'query Overview($first: Int = 1) { projects(first: $first) { nodes { dashboards { totalCount } } } }';
    await using agents = await startAgents(upstream, tool, settings);
    await using other = await browser.open();
    await other.page.goto(`${agents.url}?query=${encodeURIComponent(tool)}`);
    const ofTool = panelOf(other.page);
    await says(ofTool, '1–2 REST calls in 2 waves.');
    await says(ofTool, 'Tool Overview: Costs 1 to 2 REST calls in 2 waves; up to 101 with first: 100.');
    expect(await seriousFindings(other.page, '.graphiql-plugin')).toEqual([]);
    await other.picture('panel-tool');
    await replaceText(other.page, 'query', `${tool.slice(0, -1)} more`);
    await ofTool.getByText('Syntax Error').waitFor();
    expect(await ofTool.getByText('Tool Overview').count()).toBe(0);
    await replaceText(other.page, 'query', tool.replace('= 1', '= 2'));
    await says(ofTool, '1–3 REST calls in 2 waves.');
    expect(await ofTool.getByText('Tool Overview').count()).toBe(0);
  });

  test('plans with the token at the top, within the reach of its tenant, and says without one what is missing', async () => {
    await using tenants = await startTenants(upstream, { acme: { key: 'phx_acme', projects: ['1', '2'] } }, settings);
    await using other = await browser.open();
    await other.page.goto(tenants.url);
    await other.page.getByLabel('Token').fill('');
    const ofTenant = panelOf(other.page);
    await says(ofTenant, 'The gateway does not accept this token. Put a valid one into the field at the top.');
    upstream.reset();
    const { authorization = '' } = await tenants.headersOf('acme');
    await other.page.getByLabel('Token').fill(authorization);
    await says(ofTenant, '6 REST calls, sent together.');
    expect(upstream.requests).toEqual([]);
  });
});

function isOfPlan(request: Request): boolean {
  return request.postData()?.endsWith('"extensions":{"explain":"plan"}}') === true;
}

async function tabTo(page: Page, label: string): Promise<void> {
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.getAttribute("aria-label") ?? ""');
  for (let steps = 0; !String(await focused()).startsWith(label); steps += 1) {
    expect(steps).toBeLessThan(40);
    await page.keyboard.press('Tab');
  }
}
