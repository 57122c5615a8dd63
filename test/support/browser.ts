import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';

/** Debian's Chromium, if it is on the PATH. */
const executablePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find(isExecutable);

/** True if this machine has a `chromium`. */
export const hasChromium = executablePath !== undefined;

/** The time that a test waits for something to appear, in milliseconds: short enough to report what is missing. */
export const timeoutMs = 25_000;

/** The folder for pictures that a person looks at. None are taken in CI. */
const artifacts = new URL('../../artifacts/', import.meta.url);

/** A browser that reaches nothing but loopback. */
export interface TestBrowser extends AsyncDisposable {
  /**
   * An empty page as at a first visit, without cookies and storage of earlier pages. Scripts that these loaded and
   * compiled stay in the browser's cache, so the page costs half as much as one in a new profile.
   */
  open(): Promise<TestPage>;
  /** An empty page in a profile of its own, for a second person at the same address. */
  openApart(): Promise<TestPage>;
}

/** A page, and what it did that a test should know. */
export interface TestPage extends AsyncDisposable {
  readonly page: Page;
  /** The origin of everything that it has asked for, each once; what is made within the page has none. */
  readonly origins: ReadonlySet<string>;
  /** Errors of its console, among them what its Content-Security-Policy forbade, and exceptions. */
  readonly errors: readonly string[];
  /** Keeps a picture of the page under this name, but not in CI. */
  readonly picture: (name: string) => Promise<void>;
}

/** Starts Chromium without a window, and without what it does in the background. */
export async function startBrowser(): Promise<TestBrowser> {
  if (executablePath === undefined) throw new Error('expected chromium on the PATH');
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // One process for all pages of a profile: each further one would cost a second of CPU and compile the scripts anew.
      '--renderer-process-limit=1',
      '--disable-site-isolation-trials',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
  const shared = await newProfile(browser);
  // Stays open, because the process would end with the last page.
  await shared.newPage();
  return {
    open: () => openPage(shared),
    openApart: async () => openPage(await newProfile(browser)),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function newProfile(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en', timezoneId: 'UTC' });
  // GraphiQL copies and pastes, and so do tests.
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return context;
}

async function openPage(context: BrowserContext): Promise<TestPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  const origins = new Set<string>();
  const errors: string[] = [];
  const addOrigin = (request: Request): void => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') origins.add(origin);
  };
  context.on('request', addOrigin);
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return {
    page,
    origins,
    errors,
    picture: async (name) => {
      if (process.env['TEST_FORM'] === 'ci') return;
      mkdirSync(artifacts, { recursive: true });
      // A place with nothing below it that would light up.
      await page.mouse.move(0, 0);
      await page.screenshot({ path: new URL(`${name}.png`, artifacts).pathname });
    },
    [Symbol.asyncDispose]: async () => {
      context.off('request', addOrigin);
      const session = await context.newCDPSession(page);
      for (const origin of origins)
        await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'cookies,local_storage,indexeddb' });
      await page.close();
    },
  };
}

/** The serious and critical faults that axe finds in a page, or within one element of it: rule and elements. */
export async function seriousFindings(page: Page, within = 'html'): Promise<unknown> {
  if (await page.evaluate('!window.axe')) await page.evaluate(axe.source);
  return page.evaluate(`axe.run('${within}', { resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
