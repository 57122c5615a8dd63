import { readFileSync } from 'node:fs';
import { isInterfaceType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';
import { hasChromium, seriousFindings, startBrowser, type TestBrowser, timeoutMs } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { runScript } from '../support/process.ts';

test('possibleTypes of examples/apollo are those of the schema', () => {
  const schema = createSchema();
  const node = schema.getType('Node');
  const names = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  const file = new URL('../../examples/apollo/src/possibleTypes.ts', import.meta.url);
  const told = /Node: \[([^\]]+)\]/.exec(readFileSync(file, 'utf8'))?.[1];
  expect(told?.replaceAll("'", '').split(', ')).toEqual(names.toSorted());
});

describe.skipIf(!hasChromium)('The page of examples/apollo (needs chromium)', { timeout: 60_000 }, () => {
  const started = new AsyncDisposableStack();
  let browser: TestBrowser;
  let url: string;

  beforeAll(async () => {
    browser = started.use(await startBrowser());
    const [port, workspacePort] = [await freePort(), await freePort()];
    const settings = { PORT: `${port}`, WORKSPACE_PORT: `${workspacePort}`, NO_COLOR: '1' };
    const running = started.use(runScript('examples/apollo/', 'start', settings));
    [, url = ''] = await running.printed(/Local: +(\S+)/);
    await running.printed(/Gateway +http/);
  }, 60_000);

  afterAll(() => started.disposeAsync());

  test('puts pages of edges together, and asks for each page once', async () => {
    await using opened = await browser.open();
    const { page, picture, errors } = opened;
    const asked: unknown[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('query Dashboards') === true) asked.push(request.postDataJSON());
    });
    await page.goto(url);
    await page.getByText('4 of 10 dashboards').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('8 of 10 dashboards').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('10 of 10 dashboards').waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
    const names = await page.locator('ul > li').allInnerTexts();
    expect(new Set(names).size).toBe(10);
    expect(asked).toHaveLength(3);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('Booking website of Fernweh Travel').waitFor();
    await page.getByRole('list', { name: 'Latest events' }).getByRole('listitem').first().waitFor();
    await picture('apollo');
    expect(errors).toEqual([]);
  });

  test('shows a name before what is deferred', async () => {
    await using opened = await browser.open();
    const { page } = opened;
    const told = page.getByText(/^Booking website of/);
    const rest = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('ProjectFacts') === true) await rest.promise;
      await route.continue();
    });
    await page.addInitScript('globalThis.told = [];');
    await page.goto(url);
    await page.evaluate(`new MutationObserver(() => {
      const [text] = /^Booking website of.*$/m.exec(document.body.innerText) ?? [];
      if (text !== undefined && told.at(-1) !== text) told.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    rest.resolve();
    await told.getByText('Booking website of Fernweh Travel').waitFor();
    expect(await page.evaluate('told')).toEqual(['Booking website of …', 'Booking website of Fernweh Travel']);
  });

  test('follows events behind the last message of connections that end or fail, shows each once, and tells a gap', async () => {
    await using opened = await browser.open();
    const { page } = opened;
    const [first, second] = ['first', 'second'].map((id) => ({ __typename: 'Event', id, event: `The ${id}` }));
    const messages = [
      { nodes: [first], cursor: 'here', gap: false },
      { nodes: [first, second], cursor: 'there', gap: true },
    ];
    const positions: unknown[] = [];
    await page.route('**/graphql', (route) => {
      const body = route.request().postData() ?? '';
      if (!body.includes('subscription EventsAdded')) return route.continue();
      positions.push(/"after":(null|"\w+")/.exec(body)?.[1]);
      const message = messages[positions.length - 1];
      // A gateway refuses a cursor that it has not made.
      if (message === undefined) return route.continue();
      const eventsAdded = { __typename: 'EventsAdded', ...message };
      const part = `content-type: application/json\r\n\r\n${JSON.stringify({ payload: { data: { eventsAdded } } })}`;
      const type = 'multipart/mixed;boundary="-";subscriptionSpec=1.0';
      return route.fulfill({ headers: { 'content-type': type }, body: `\r\n---\r\n${part}\r\n-----\r\n` });
    });
    await page.goto(url);
    await page.getByText('The first').waitFor();
    expect(await page.getByRole('status').count()).toBe(0);
    await page.getByText('Some events are missing.').waitFor();
    expect(await page.getByRole('list', { name: 'Latest events' }).innerText()).toMatch(/^The second\s+The first$/);
    await expect
      .poll(() => positions.slice(0, 4), { timeout: timeoutMs })
      .toEqual(['null', '"here"', '"there"', '"there"']);
  });

  test('says soon that the gateway cannot be reached, and goes on by itself once it is there', async () => {
    await using away = new AsyncDisposableStack();
    const [port, workspacePort] = [await freePort(), await freePort()];
    const settings = { PORT: `${port}`, WORKSPACE_PORT: `${workspacePort}`, NO_COLOR: '1' };
    const serving = away.use(runScript('examples/apollo/', 'page', settings));
    const [, alone = ''] = await serving.printed(/Local: +(\S+)/);
    const { page } = away.use(await browser.open());
    await page.goto(alone);
    const told = page.getByText('The gateway cannot be reached. Trying again…');
    await told.waitFor();
    away.use(runScript('examples/apollo/', 'gateway', settings));
    await page.getByText('4 of 10 dashboards').waitFor();
    expect(await told.count()).toBe(0);
    await page.getByRole('list', { name: 'Latest events' }).getByRole('listitem').first().waitFor();
  });

  test('says in words that a change was not answered, and does not send it twice', async () => {
    await using opened = await browser.open();
    const { page } = opened;
    await page.goto(url);
    const pin = page.locator('li:first-child button');
    await pin.waitFor();
    let changes = 0;
    await page.route('**/graphql', (route) => {
      changes += 1;
      return route.fulfill({ status: 502, body: '' });
    });
    await pin.click();
    await page.getByRole('alert').getByText('The gateway does not answer. Load the page again').waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain('502');
    expect(changes).toBe(1);
  });

  test('shows a change before it is answered, and takes it back if it fails', async () => {
    await using opened = await browser.open();
    const { page } = opened;
    const answers: PromiseWithResolvers<'pass' | 'fail'>[] = [Promise.withResolvers(), Promise.withResolvers()];
    const [passed, failed] = answers;
    const waiting = [...answers];
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation') !== true) return route.continue();
      const outcome = await waiting.shift()?.promise;
      if (outcome === 'pass') return route.continue();
      const errors = [{ message: 'The key may not do this.', path: ['updateDashboard'] }];
      return route.fulfill({ json: { data: { updateDashboard: null }, errors } });
    });
    await page.goto(url);
    const pin = page.locator('li:first-child button');
    await pin.waitFor();
    const before = await pin.innerText();
    const after = before === 'Pin' ? 'Unpin' : 'Pin';
    const says = (label: string): Promise<void> => pin.getByText(label, { exact: true }).waitFor();
    await pin.click();
    await says(after);
    passed?.resolve('pass');
    await page.waitForResponse((response) => response.request().postData()?.includes('mutation') === true);
    await says(after);
    await pin.click();
    await says(before);
    failed?.resolve('fail');
    await page.getByRole('alert').getByText('The key may not do this.').waitFor();
    expect(await pin.innerText()).toBe(after);
  });
});
