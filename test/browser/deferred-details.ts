import { expect, test } from 'vitest';
import { seriousFindings } from '../support/browser.ts';
import { GrowingEvents } from '../support/live.ts';
import { reply } from '../support/replies.ts';
import { dashboard } from '../support/rows.ts';
import { type Live, openPage, openProject, soon } from './live-example.ts';

/** Tests of what the page of a project defers, with a browser and a page that are there once the tests run. */
export function testDeferredDetails(started: () => Live): void {
  test('details come after the names, and move nothing: until then their room is kept', async () => {
    const { example } = started();
    const { page, errors, picture } = await openPage(started());
    const details = Promise.withResolvers<void>();
    const id = example.addProject(new GrowingEvents(), ({ params }) =>
      details.promise.then(() => dashboard(Number(params['dashboard']))),
    );
    await openProject(page, example, id);
    const cards = page.getByRole('region', { name: 'Dashboards' }).getByRole('listitem');
    const busy = page.locator('dd[aria-busy="true"]');
    await cards.getByText('Dashboard 2').waitFor();
    await page.getByRole('heading', { name: `Project ${id}` }).waitFor();
    // Two of each card, and two of the project: its primary dashboard waits for the same call.
    expect(await busy.count()).toBe(6);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('This project has captured no events yet.').waitFor();
    await picture('example-skeleton');
    const boxes = () => Promise.all([cards.first().boundingBox(), page.locator('main > *').last().boundingBox()]);
    const before = await boxes();

    details.resolve();
    await expect.poll(() => busy.count(), soon).toBe(0);
    expect(await boxes()).toEqual(before);
    expect(await cards.first().locator('dd').allInnerTexts()).toEqual(['1', 'Last 7 days']);
    const dashboards = `GET /api/projects/${id}/dashboards/`;
    const asked = example.upstream.requests.filter(
      (request) => /\d\/$/.test(request) && request.startsWith(dashboards),
    );
    expect(asked.toSorted()).toEqual([`${dashboards}1/`, `${dashboards}2/`]);
    expect(errors).toEqual([]);
  });

  test('details that could not be loaded say so beside those that could', async () => {
    const { example } = started();
    const { page, picture } = await openPage(started());
    let isDown = true;
    const id = example.addProject(new GrowingEvents(), ({ params }) =>
      isDown && params['dashboard'] === '2' ? reply({ status: 500 }) : dashboard(Number(params['dashboard'])),
    );
    await openProject(page, example, id);
    const cards = page.getByRole('region', { name: 'Dashboards' }).getByRole('listitem');
    const details = async (): Promise<unknown> => [
      await cards.first().locator('dd').allInnerTexts(),
      await cards.last().locator('dd').allInnerTexts(),
    ];
    const lost = 'Not loaded';
    await expect.poll(details, soon).toEqual([
      ['1', 'Last 7 days'],
      [lost, lost],
    ]);
    await page.getByRole('alert').getByText('Not everything of the dashboards could be loaded.').waitFor();
    expect(await page.getByText('Dashboard 2').isVisible()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await picture('example-lost-details');
    isDown = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(details, soon).toEqual([
      ['1', 'Last 7 days'],
      ['1', 'Last 7 days'],
    ]);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
}
