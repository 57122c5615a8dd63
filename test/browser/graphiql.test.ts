import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkspace, type Workspace } from '../../src/workspace/workspace.ts';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { execute, openGraphiql, openTab, replaceText, stored, textOf, untilTabsHold } from './graphiql.ts';

describe.skipIf(!hasChromium)('GraphiQL (needs chromium)', { timeout: 60_000 }, () => {
  const started = new AsyncDisposableStack();
  let browser: TestBrowser;
  let workspace: Workspace;
  let gateway: TestGateway;

  beforeAll(async () => {
    browser = started.use(await startBrowser());
    workspace = await startWorkspace({ port: 0, host: '127.0.0.1', latencyMs: 0, errorRate: 0 });
    started.defer(() => workspace.close());
    gateway = started.use(await startGateway(workspace, { demoKey: workspace.demoKey, explain: true }));
  }, 60_000);

  afterAll(() => started.disposeAsync());

  test('opens on an example that runs, asks no other host, and breaks none of its own rules', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page, picture, origins, errors } = opened;
    const answer = await execute(page);
    expect(answer).toMatchObject({ data: { projects: { nodes: [{ name: 'Booking website' }, { name: 'iOS app' }] } } });
    await page.locator('.graphiql-response').getByText('Booking funnel').waitFor();
    await picture('graphiql');
    expect([...origins]).toEqual([new URL(gateway.url).origin]);
    expect(errors).toEqual([]);
  });

  test('has a tab for a nested read, for pages, for a change and for explain, and each runs as it stands', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page, picture, errors } = opened;
    const tabs = page.getByRole('tab');
    expect(await tabs.allInnerTexts()).toEqual(['Overview', 'Dashboards', 'CreateDashboard', 'Explain']);
    for (const [tab, answer] of [
      ['Overview', { data: { projects: { nodes: [{}, {}] } } }],
      ['Dashboards', { data: { project: { dashboards: { pageInfo: { hasNextPage: true } } } } }],
      ['CreateDashboard', { data: { createDashboard: { dashboard: { name: 'Weekly numbers' } } } }],
      ['Explain', { extensions: { explain: { waves: 3 } } }],
    ] as const) {
      await openTab(page, tab);
      const given = await execute(page);
      expect(given).toMatchObject(answer);
      expect(given).not.toHaveProperty('errors');
    }
    await page.locator('.graphiql-response').getByText('"getDashboard"').waitFor();
    await picture('graphiql-explain');
    expect(errors).toEqual([]);
  });

  test('shows the documentation of the schema', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page, picture } = opened;
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('Everything that can be read. REST calls are the scarce resource').waitFor();
    await docs.getByRole('link', { name: 'ProjectConnection' }).click();
    await docs.getByText('A page of projects, after the Relay cursor connections specification.').waitFor();
    expect(await docs.innerText()).toContain('Whether there is more, and the cursors to go on from.');
    await picture('graphiql-documentation');
  });

  test('completes the name of a field', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page, picture } = opened;
    const rest = ' { totalCount } } }';
    await replaceText(page, 'query', `{ project(id: 1) { dashb${rest}`);
    for (let step = 0; step < rest.length; step += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    const suggestions = page.locator('.suggest-widget');
    await suggestions.getByText('dashboards', { exact: true }).waitFor();
    await picture('graphiql-completion');
    await suggestions.getByText('dashboards', { exact: true }).click();
    const editor = page.locator('.graphiql-query-editor');
    await expect.poll(() => textOf(editor)).toBe(`{ project(id: 1) { dashboards${rest}`);
    expect(await execute(page)).toMatchObject({
      data: { project: { dashboards: { totalCount: expect.any(Number) as unknown } } },
    });
  });

  test('shows a typed error for a key that nobody knows', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page, picture } = opened;
    await replaceText(page, 'headers', '{ "Authorization": "Bearer phx_of_nobody" }');
    expect(await execute(page)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await page.locator('.graphiql-response').getByText('UNAUTHENTICATED').waitFor();
    await picture('graphiql-bad-key');
  });

  test('keeps tabs over a reload, opens no other, and never keeps a key', async () => {
    await using opened = await openGraphiql(browser, gateway.url);
    const { page } = opened;
    await replaceText(page, 'headers', '{ "Authorization": "Bearer phx_of_somebody" }');
    await execute(page);
    await replaceText(page, 'query', '{ edited: __typename }');
    // What is stored from now on was written when the key was known.
    await untilTabsHold(page, 'edited: __typename');
    expect(await stored(page)).not.toContain('phx_');
    await page.reload();
    await page.getByRole('tab', { name: '<untitled>' }).waitFor();
    expect(await page.getByRole('tab').allInnerTexts()).toEqual([
      '<untitled>',
      'Dashboards',
      'CreateDashboard',
      'Explain',
    ]);
    await openTab(page, 'Dashboards');
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('pageInfo').waitFor();
    expect(await page.getByRole('tab').count()).toBe(4);
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('.graphiql-editor-tool').getByText(workspace.demoKey).waitFor();
    expect(await page.locator('.graphiql-editor-tool').innerText()).not.toContain('phx_of_somebody');
    expect(await stored(page)).not.toContain('phx_');
  });
});
