import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import { dashboard } from '../support/rows.ts';
import { followEvents, type Live, openPage, openProject, soon, streamsOf } from './live-example.ts';

/** Tests of what the page does while the gateway is away, and once it is back, with a browser and a page as the others. */
export function testAwayGateway(started: () => Live): void {
  test('says that the gateway is away, and is whole once it is back, without a click', async () => {
    const { example } = started();
    const { page, picture } = await openPage(started());
    const id = example.addProject();
    await example.stopGateway();
    await openProject(page, example, id);
    const alerts = page.getByRole('alert');
    await expect.poll(() => alerts.count(), soon).toBe(4);
    expect(await alerts.allInnerTexts()).toEqual(
      ['projects', 'project', 'dashboards', 'events'].map(
        (what) =>
          `The ${what} could not be loaded.\nThe server does not answer. This page tries again by itself.\nGATEWAY_UNAVAILABLE`,
      ),
    );
    expect(await alerts.getByRole('button').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await picture('example-gateway-away');
    await example.startGateway();
    await page.getByRole('heading', { name: `Project ${id}` }).waitFor();
    await page.getByText('10 events loaded').waitFor();
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => alerts.count(), soon).toBe(0);
  });

  test('an alert stands still while the page tries again, and the next page of a list comes by itself', async () => {
    const { example } = started();
    const { page } = await followEvents(started());
    await example.stopGateway();
    const tries = readsOf(page);
    await page.getByRole('button', { name: 'Load more events' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The events could not be loaded.').waitFor();
    await alert.evaluate((element) => element.setAttribute('data-first', ''));
    await expect.poll(() => tries.length, soon).toBeGreaterThanOrEqual(4);
    expect(await page.locator('[role=alert][data-first]').count()).toBe(1);
    expect(await page.getByRole('row').count()).toBe(11);
    await example.startGateway();
    await page.getByText('12 events loaded').waitFor();
    await expect.poll(() => alert.count(), soon).toBe(0);
  });

  test('reads anew what the gateway left unfinished', async () => {
    const { example } = started();
    const { page } = await openPage(started());
    let isHeld = true;
    const held = Promise.withResolvers<void>();
    const id = example.addProject(undefined, async ({ params }) => {
      if (isHeld) await held.promise;
      return dashboard(Number(params['dashboard']));
    });
    await openProject(page, example, id);
    const busy = page.locator('dd[aria-busy="true"]');
    await page.getByText('Dashboard 2').waitFor();
    await expect.poll(() => busy.count(), soon).toBe(6);
    await example.stopGateway();
    isHeld = false;
    await page.getByText('Not everything of the dashboards could be loaded.').waitFor();
    await example.startGateway();
    await page.getByRole('listitem').getByText('Last 7 days').first().waitFor();
    await expect.poll(() => page.getByRole('alert').count(), soon).toBe(0);
    held.resolve();
  });

  test('however long the gateway has been away, the stream is tried again within three seconds', async () => {
    const { example } = started();
    const { page } = await followEvents(started(), ({ clock }) => clock.install());
    await example.stopGateway();
    await page.getByRole('status').getByText('Reconnecting…').waitFor();
    const streams = streamsOf(page);
    await page.evaluate(`{
      window.delays = [];
      const { setTimeout } = window;
      window.setTimeout = (call, delay) => {
        delays.push(delay);
        return setTimeout(call, delay);
      };
    }`);
    await expect
      .poll(async () => {
        await page.clock.runFor(1000);
        return streams.length;
      }, soon)
      .toBeGreaterThanOrEqual(8);
    expect(await page.evaluate('Math.max(...delays)')).toBeLessThanOrEqual(3000);
    await example.startGateway();
  });
}

/** Records the GraphQL requests of a page from now on, except event streams. */
function readsOf(page: Page): readonly string[] {
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql') && request.headers()['accept'] !== 'text/event-stream')
      reads.push(request.url());
  });
  return reads;
}
