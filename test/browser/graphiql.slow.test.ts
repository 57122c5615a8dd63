import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, seriousFindings, type TestPage, timeoutMs } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { GrowingEvents, quick } from '../support/live.ts';
import { createFolder } from '../support/persisted.ts';
import { startUpstream } from '../support/upstream.ts';
import { expectDocumented } from './documented-picture.ts';
import {
  execute,
  executeUntil,
  openAnew,
  openGraphiql,
  openTab,
  replaceText,
  serveAll,
  stored,
  tabsOf,
  textOf,
  untilTabsHold,
} from './graphiql.ts';

describe.skipIf(!hasChromium)('GraphiQL (needs chromium)', { timeout: 60_000 }, () => {
  const served = serveAll();
  let opened: TestPage;

  beforeAll(async () => {
    opened = await served.browser.open();
    await openGraphiql(opened, served.gateway.url);
  }, 60_000);

  afterAll(() => opened[Symbol.asyncDispose]());

  describe('on one page', () => {
    test('opens on an example that runs, asks no other host, and breaks none of its own rules', async () => {
      const { page, picture, origins, errors } = opened;
      const answer = await execute(page);
      expect(answer).toMatchObject({
        data: { projects: { nodes: [{ name: 'Booking website' }, { name: 'iOS app' }] } },
      });
      await page.locator('.graphiql-response').getByText('Booking funnel').waitFor();
      const calls = page.getByText('2 calls · 200');
      await calls.first().click();
      await page.getByText('dashboards/?limit=3').last().waitFor();
      await picture('graphiql');
      await expectDocumented(page, 'docs/graphiql.png');
      expect([...origins]).toEqual([new URL(served.gateway.url).origin]);
      expect(errors).toEqual([]);
    });

    test('has a tab for a nested read, for pages, for a change and for explain, and each runs as it stands', async () => {
      const { page, picture, errors } = opened;
      expect(await tabsOf(page).allInnerTexts()).toEqual(['Overview', 'Dashboards', 'CreateDashboard', 'Explain']);
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
      await page.locator('.graphiql-response').getByText('"listProjects"').waitFor();
      await picture('graphiql-explain');
      expect(errors).toEqual([]);
    });

    test('takes a key that is pasted as the header that it was copied from', async () => {
      const { page } = opened;
      await openTab(page, 'Overview');
      await page.getByLabel('API key').fill(`Authorization: Bearer ${served.workspace.demoKey}`);
      expect(await execute(page)).toMatchObject({ data: { projects: { nodes: [{ name: 'Booking website' }, {}] } } });
    });

    test('shows a typed error for an unknown key', async () => {
      const { page, picture } = opened;
      await page.getByLabel('API key').fill('phx_of_nobody');
      expect(await execute(page)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
      await page.locator('.graphiql-response').getByText('UNAUTHENTICATED').waitFor();
      await picture('graphiql-bad-key');
    });

    test('shows where an error is in the text as it stands, and nothing of the page itself', async () => {
      const { page } = opened;
      const errorsOf = async (): Promise<string> =>
        (await page.locator('.graphiql-response').innerText()).replaceAll(/\s+/g, ' ');
      await replaceText(page, 'query', '{  project( id: 1 ) {  nam } }');
      expect(await execute(page)).toMatchObject({ errors: [{ locations: [{ line: 1, column: 24 }] }] });
      await expect.poll(errorsOf, { timeout: timeoutMs }).toContain('"locations": [ { "line": 1, "column": 24 } ]');
      await replaceText(page, 'query', '{ project(id: 1) {');
      await page.click('button[aria-label^="Execute"]');
      await expect.poll(errorsOf, { timeout: timeoutMs }).toContain('"locations": [ { "line": 1, "column": 19 } ]');
      expect(await errorsOf()).not.toMatch(/stack|127\.0\.0\.1/);
    });

    test('completes the name of a field', async () => {
      const { page, picture } = opened;
      await page.getByLabel('API key').fill(served.workspace.demoKey);
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

    test('shows the variables of a change beside it', async () => {
      const { page, picture } = opened;
      await openTab(page, 'CreateDashboard');
      await expect.poll(() => textOf(page.locator('.graphiql-editor-tool'))).toContain('"Weekly numbers"');
      await picture('graphiql-mutation');
    });

    test('shows the documentation of the schema', async () => {
      const { page, picture } = opened;
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      const docs = page.locator('.graphiql-doc-explorer');
      await docs.getByRole('link', { name: 'Query', exact: true }).click();
      await docs.getByText('Everything that can be read. REST calls are scarce').waitFor();
      await docs.getByRole('link', { name: 'ProjectConnection' }).click();
      await docs.getByText('A page of projects, as in the Relay cursor connections specification.').waitFor();
      expect(await docs.innerText()).toContain('Whether there is more, and the cursors to go on from.');
      await picture('graphiql-documentation');
    });
  });

  test('follows events in a tab of its own, if there are subscriptions', async () => {
    const events = new GrowingEvents();
    await using upstream = await startUpstream({ 'GET /api/projects/1/events/': events.list });
    await using live = await startGateway(upstream, { live: quick, demoKey: 'phx_demo', explain: true });
    await using other = await served.browser.open();
    await openGraphiql(other, live.url);
    const { page, picture, errors } = other;
    await page.getByRole('button', { name: 'Hide REST calls' }).click();
    await openTab(page, 'Tail');
    const hear = async (...names: readonly string[]): Promise<void> => {
      upstream.reset();
      await executeUntil(page, () => upstream.requests.length > 1);
      for (const name of names) {
        events.add(1, new Date().toISOString(), { event: name });
        await page.locator('.graphiql-response').getByText(name).waitFor();
      }
    };
    await hear('First to be heard', 'Second to be heard');
    await page.getByRole('button', { name: 'Stop query' }).click();
    await page.getByRole('button', { name: 'Show REST calls' }).click();
    await hear('Third to be heard', 'Fourth to be heard');
    await page.getByText('2 messages so far. The calls are those of the last message, without polls.').waitFor();
    await picture('graphiql-tail');
    expect(errors).toEqual([]);
  });

  test('keeps tabs, the history and a closed panel over a reload, but no headers, and the one key of all tabs for the session only', async () => {
    await openAnew(opened, served.gateway.url);
    const { page, picture } = opened;
    // It is open at the first visit.
    await page.getByRole('button', { name: 'Hide REST calls' }).getByText('REST calls').click();
    const inHistory = page.locator('.graphiql-history').getByRole('button', { name: 'Overview' });
    await page.getByRole('button', { name: 'Headers' }).click();
    await replaceText(page, 'headers', '{ "Authorization": "Bearer phx_of_nobody" }');
    expect(await execute(page)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await page.getByRole('button', { name: 'Show History' }).click();
    await inHistory.waitFor();
    await picture('graphiql-history');
    await untilTabsHold(page, 'Overview');
    expect(await stored(page)).not.toContain('phx_');
    await page.getByRole('button', { name: 'Hide History' }).click();
    const key = page.getByLabel('API key');
    await key.fill('phx_of_somebody');
    await replaceText(page, 'headers', '{}');
    await replaceText(page, 'query', '{ edited: projects { totalCount } }');
    // Before it stores this text, GraphiQL may run the one before. It knows the key by then, too.
    await untilTabsHold(page, 'edited: projects');
    expect(await execute(page)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await page.reload();
    await tabsOf(page).filter({ hasText: '<untitled>' }).waitFor();
    expect(await tabsOf(page).allInnerTexts()).toEqual(['<untitled>', 'Dashboards', 'CreateDashboard', 'Explain']);
    expect(await page.getByRole('region', { name: 'REST calls', exact: true }).count()).toBe(0);
    expect(await key.inputValue()).toBe('phx_of_somebody');
    await page.getByRole('button', { name: 'Show History' }).click();
    await inHistory.waitFor();
    await openTab(page, 'Dashboards');
    expect(await execute(page)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('pageInfo').waitFor();
    expect(await tabsOf(page).count()).toBe(4);
    expect(await stored(page)).not.toContain('phx_');
    await key.fill(served.workspace.demoKey);
    expect(await execute(page)).toMatchObject({ data: { project: { name: 'Booking website' } } });
  });

  describe.each(['light', 'dark'] as const)('on a page that is %s', (colorScheme) => {
    beforeAll(async () => {
      await opened.page.setViewportSize({ width: 1280, height: 844 });
      await opened.page.emulateMedia({ colorScheme });
      await openAnew(opened, served.gateway.url);
      await execute(opened.page);
      await opened.page.locator('.graphiql-response').getByText('Booking website').waitFor();
    }, 60_000);

    test.each([1280, 390])('has no serious finding of axe, %d pixels wide', async (width) => {
      const { page, picture } = opened;
      await page.setViewportSize({ width, height: 844 });
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Settings' }).click();
      const dialog = page.getByRole('dialog');
      const edge = (await dialog.boundingBox())?.width ?? 0;
      const dark = await dialog.getByRole('button', { name: 'Dark' }).evaluate((button) => {
        const box = button.closest('[role=dialog]')?.getBoundingClientRect();
        return button.getBoundingClientRect().right - (box?.left ?? 0);
      });
      expect(dark).toBeLessThan(edge);
      await page.keyboard.press('Escape');
      // The last one is open at the first visit, too.
      for (const pane of ['Documentation Explorer', 'History', 'GraphiQL Explorer', 'REST calls']) {
        await page.getByRole('button', { name: `Show ${pane}` }).click();
        await page.getByRole('button', { name: `Hide ${pane}` }).waitFor();
        expect([pane, await seriousFindings(page, '.graphiql-plugin')]).toEqual([pane, []]);
      }
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
      await picture(`graphiql-${colorScheme}-${width}`);
    });

    test('can be used on a telephone: the answer is below the query', async () => {
      const { page } = opened;
      await page.setViewportSize({ width: 390, height: 844 });
      const [editors, response] = await Promise.all(
        ['.graphiql-editors', '.graphiql-response'].map((place) => page.locator(place).boundingBox()),
      );
      expect(editors?.width).toBeGreaterThan(350);
      expect(response?.width).toBeGreaterThan(350);
      expect(response?.y).toBeGreaterThanOrEqual((editors?.y ?? 0) + (editors?.height ?? 0));
    });
  });

  test('says what does not work if only listed documents run', async () => {
    using folder = createFolder();
    const files = folder.write('manifest.json', { q1: '{ __typename }' });
    const persisted = { files, mode: 'only' } as const;
    await using strict = await startGateway(served.workspace, { introspection: false, persisted, explain: true });
    await using other = await served.browser.open();
    const { page, picture } = other;
    await page.goto(strict.url);
    const notes = page.getByRole('note');
    await page.locator('.graphiql-query-editor').getByText('Overview').waitFor();
    expect(await notes.allInnerTexts()).toEqual([
      'Only listed documents run here: any other text, the examples included, is refused.',
      'The schema cannot be read here, so there is no documentation and no completion.',
    ]);
    const told = page.getByRole('region', { name: 'REST calls', exact: true }).getByRole('status');
    const unlisted = 'Only listed documents run here. This text is not one of them, so it has no plan.';
    await expect.poll(() => told.innerText(), { timeout: timeoutMs }).toBe(unlisted);
    await picture('graphiql-only');
  });
});
