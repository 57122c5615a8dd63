import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { startBrowser, type TestBrowser, type TestPage, timeoutMs } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** A browser, and a gateway over a workspace of its own, in whose GraphiQL the workspace's key stands. */
interface Served {
  readonly browser: TestBrowser;
  readonly workspace: Workspace;
  readonly gateway: TestGateway;
}

/** Starts a browser, a workspace and a gateway before the first test of a group, and stops them after the last. */
export function serveAll(): Served {
  const started = new AsyncDisposableStack();
  let served: Served | undefined;
  const get = (): Served => served ?? expect.fail('nothing is served yet');
  beforeAll(async () => {
    const browser = started.use(await startBrowser());
    const workspace = await startWorkspace({ port: 0, host: '127.0.0.1', latencyMs: 0, errorRate: 0 });
    started.defer(() => workspace.close());
    const gateway = started.use(await startGateway(workspace, { demoKey: workspace.demoKey, explain: true }));
    served = { browser, workspace, gateway };
  }, 60_000);
  afterAll(() => started.disposeAsync());
  return {
    get browser() {
      return get().browser;
    },
    get workspace() {
      return get().workspace;
    },
    get gateway() {
      return get().gateway;
    },
  };
}

/** Opens GraphiQL in a page and waits until it has read the schema. */
export async function openGraphiql({ page }: TestPage, url: string): Promise<void> {
  const described = page.waitForResponse((response) => response.request().postData()?.includes('__schema') ?? false);
  await page.goto(url);
  await (await described).finished();
}

/**
 * Opens GraphiQL in a page that already has it open, in the state of a first visit. A new profile would take twice as
 * long, because it would compile the scripts again.
 */
export async function openAnew(opened: TestPage, url: string): Promise<void> {
  const { page } = opened;
  // Of the same origin, and without scripts that would store something. The icon is no request.
  await page.route('**/empty', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,">' }),
  );
  await page.goto(new URL('/empty', url).href);
  await page.unroute('**/empty');
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await openGraphiql(opened, url);
}

/** The time that an answer may take before the button is pressed once more, in milliseconds, and the most presses. */
const answerMs = 6000;
const mostClicks = 4;

/**
 * Runs what the open tab holds, and gives the answer that came over the wire. While an editor still takes in what was typed,
 * as on a busy machine, the button runs nothing: then it is pressed again, as a person would.
 */
export async function execute(page: Page): Promise<unknown> {
  for (let clicks = 1; ; clicks += 1) {
    const answered = page
      .waitForResponse((response) => isRun(response.request()), { timeout: answerMs })
      .catch((error: unknown) => {
        if (clicks === mostClicks) throw error;
      });
    await page.click('button[aria-label^="Execute"]');
    const response = await answered;
    if (response !== undefined) return response.json();
  }
}

/** True if a request is of an operation that GraphiQL runs, and not of a plan for its panel. */
function isRun(request: Request): boolean {
  return request.method() === 'POST' && request.postData()?.endsWith('"extensions":{"explain":"plan"}}') === false;
}

/** Runs what the open tab holds and waits until `hasBegun`, for what is not answered at once. It is pressed again as above. */
export async function executeUntil(page: Page, hasBegun: () => boolean): Promise<void> {
  const press = async (): Promise<boolean> => {
    if (!hasBegun()) await page.click('button[aria-label^="Execute"]');
    return hasBegun();
  };
  await expect.poll(press, { timeout: timeoutMs, interval: 1000 }).toBe(true);
}

/**
 * Replaces what stands in an editor with one line. Pasted, because editors close the brackets that are typed; and looked at,
 * because an editor that has not yet come up takes the keys and drops what is pasted.
 */
export async function replaceText(page: Page, editor: 'query' | 'headers', line: string): Promise<void> {
  const place = page.locator(editor === 'query' ? '.graphiql-query-editor' : '.graphiql-editor-tool');
  const replaced = async (): Promise<string> => {
    // Its lines may be scrolled to where something else lies.
    await place
      .locator('.editor-scrollable:visible')
      .first()
      // After a change of its size, a page of a busy Chromium may not draw. Then the click is tried again.
      .click({ position: { x: 5, y: 5 }, timeout: standingMs });
    await page.keyboard.press('Control+a');
    await paste(page, line);
    await expect.poll(() => textOf(place), { timeout: standingMs }).toBe(line);
    return line;
  };
  await expect.poll(() => replaced().catch(String), { timeout: timeoutMs }).toBe(line);
}

/** The time within which an editor must be clicked, and pasted text must appear in it, in milliseconds. */
const standingMs = 2000;

/** The text that an editor shows. */
export async function textOf(editor: Locator): Promise<string> {
  const text = await editor.locator('.view-lines:visible').innerText();
  return text.replaceAll('\u00a0', ' ');
}

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press('Control+v');
}

/** The buttons of the tabs. */
export function tabsOf(page: Page): Locator {
  return page.locator('.graphiql-tab-button');
}

/** Opens the tab of an operation. GraphiQL stores that it is open half a second later, when it knows the operation. */
export async function openTab(page: Page, operation: string): Promise<void> {
  const names = await tabsOf(page).allInnerTexts();
  await tabsOf(page).filter({ hasText: operation }).click();
  await untilTabsHold(page, `"activeTabIndex":${names.indexOf(operation)}`);
}

/** Waits until this stands in what GraphiQL stores of its tabs. */
export async function untilTabsHold(page: Page, text: string): Promise<void> {
  const tabs = (): Promise<unknown> => page.evaluate("localStorage.getItem('graphiql:tabState')");
  await expect.poll(tabs, { timeout: timeoutMs }).toContain(text);
}

/** Everything that the browser keeps of the page beyond its tab: cookies, storage, databases, and the address. */
export async function stored(page: Page): Promise<string> {
  return [JSON.stringify(await page.context().storageState({ indexedDB: true })), page.url()].join('\n');
}
