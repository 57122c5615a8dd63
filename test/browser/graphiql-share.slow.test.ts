import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, seriousFindings, type TestPage, timeoutMs } from '../support/browser.ts';
import { runShell } from '../support/process.ts';
import {
  execute,
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

describe.skipIf(!hasChromium)('What GraphiQL passes on of a tab (needs chromium)', { timeout: 60_000 }, () => {
  const served = serveAll();
  let opened: TestPage;

  beforeAll(async () => {
    opened = await served.browser.open();
    await openGraphiql(opened, served.gateway.url);
  }, 60_000);

  afterAll(() => opened[Symbol.asyncDispose]());

  test('a link opens a tab with its variables and its name for someone else, who has no key by it', async () => {
    const sender = opened;
    await openTab(sender.page, 'Dashboards');
    await replaceText(sender.page, 'headers', '{ "project": "2", "after": null }');
    await untilTabsHold(sender.page, '\\"project\\": \\"2\\"');
    const link = await copied(sender.page, 'Copy link', 'Link copied.');
    await sender.picture('graphiql-share');
    expect(link).not.toContain('phx_');
    await using reader = await served.browser.openApart();
    await openGraphiql(reader, link);
    const { page, errors } = reader;
    await page.locator('.graphiql-query-editor').getByText('pageInfo').waitFor();
    expect(await tabsOf(page).allInnerTexts()).toEqual([
      'Overview',
      'Dashboards',
      'CreateDashboard',
      'Explain',
      'Dashboards',
    ]);
    await expect.poll(() => textOf(page.locator('.graphiql-editor-tool'))).toBe('{ "project": "2", "after": null }');
    expect(page.url()).toBe(served.gateway.url);
    expect(await execute(page)).toMatchObject({ data: { project: { name: 'iOS app' } } });
    expect(errors).toEqual([]);
  });

  test('a link runs nothing, opens one tab however often it is opened, and takes none from its reader', async () => {
    const { page } = opened;
    await openTab(page, 'Overview');
    const ran: (string | null)[] = [];
    page.on('request', (request) => ran.push(request.postData()));
    await replaceText(page, 'query', '{ mine: projects { totalCount } }');
    await untilTabsHold(page, 'mine: projects');
    const mutation = 'mutation Evil { createDashboard(input: { projectId: "1", name: "No" }) { dashboard { id } } }';
    const fragment = `#${String(new URLSearchParams({ query: mutation, name: 'Harmless' }))}`;
    for (let times = 0; times < 2; times += 1) {
      const loaded = page.waitForEvent('load');
      await page.goto(`${served.gateway.url}${fragment}`);
      await loaded;
      await page.locator('.graphiql-query-editor').getByText('mutation Evil').waitFor();
    }
    expect(await tabsOf(page).allInnerTexts()).toEqual([
      '<untitled>',
      'Dashboards',
      'CreateDashboard',
      'Explain',
      'Harmless',
    ]);
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('mutation Evil').waitFor();
    expect(await stored(page)).toContain('mine: projects');
    const plans = ran.filter((body) => body?.includes('Evil') === true);
    expect(plans.filter((body) => body?.endsWith('"extensions":{"explain":"plan"}}') !== true)).toEqual([]);
  });

  test('a link that cannot be opened opens nothing, and says why', async () => {
    await openAnew(opened, `${served.gateway.url}#query=%7B__typename%7D&variables=%7B`);
    const { page, errors, picture } = opened;
    const told = 'The link was not opened: its variables are no JSON object.';
    await page.getByRole('banner').getByRole('status').getByText(told).waitFor();
    expect(await tabsOf(page).allInnerTexts()).toEqual(['Overview', 'Dashboards', 'CreateDashboard', 'Explain']);
    await picture('graphiql-link-refused');
    expect(errors).toEqual([]);
  });

  test('scripts in a link stay text, as query, as variables and as name', async () => {
    const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const params = new URLSearchParams({ query: `# ${script}`, variables: JSON.stringify({ script }), name: script });
    await openAnew(opened, `${served.gateway.url}#${String(params)}`);
    const { page, errors } = opened;
    await page.locator('.graphiql-query-editor').getByText('onerror').waitFor();
    expect((await tabsOf(page).allInnerTexts()).at(-1)).toBe(script.slice(0, 60));
    expect(await page.title()).toBe('GraphiQL · workspace gateway');
    expect(errors).toEqual([]);
  });

  test('a command that is copied runs the tab in a shell, with the key of TOKEN; the buttons fit a telephone', async () => {
    const { page, picture } = opened;
    await openTab(page, 'CreateDashboard');
    const command = await copied(page, 'Copy as cURL', 'Command copied.');
    expect(command).not.toContain('phx_');
    await using shell = runShell(command, { TOKEN: served.workspace.demoKey }, '.');
    expect(await shell.exit()).toBe(0);
    expect(JSON.parse(shell.output())).toMatchObject({
      data: { createDashboard: { dashboard: { name: 'Weekly numbers' } } },
    });

    // The buttons fit a telephone, and can be used without seeing them.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Copy link' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Link copied.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    expect(await seriousFindings(page, 'header')).toEqual([]);
    await picture('graphiql-share-390');
  });
});

/** Presses a button that copies, and gives what it has copied. */
async function copied(page: Page, button: string, told: string): Promise<string> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('status').getByText(told).waitFor({ timeout: timeoutMs });
  return String(await page.evaluate('navigator.clipboard.readText()'));
}
