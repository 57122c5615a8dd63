import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { TestBrowser } from '../support/browser.ts';
import { refusal } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { addNew, followProject, type LiveExample, shownOf, someEvents, soon, streamsOf } from './live-example.ts';

/** Tests of what the page does if a stream is refused that had opened, with a browser and a page as the others. */
export function testRefusedStreams(
  started: () => { readonly browser: TestBrowser; readonly example: LiveExample },
): void {
  test('goes on behind a stream that is refused after it had opened, if the next one is taken', async () => {
    const { browser, example } = started();
    await using opened = await browser.open();
    const { page } = opened;
    const { events, before, streams, refuse } = await followEvents(page, example, 20);
    refuse(1);
    await expect.poll(() => streams.length, soon).toBe(2);
    const after = addNew(events, 2, 1);
    await expect.poll(() => shownOf(page), soon).toEqual([...after, ...before]);
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  });

  test('tries once more after a stream is refused that had opened, and is done if that is refused as well', async () => {
    const { browser, example } = started();
    await using opened = await browser.open();
    const { page } = opened;
    const { before, streams, refuse } = await followEvents(page, example, 21);
    refuse(Number.POSITIVE_INFINITY);
    await expect.poll(() => streams.length, soon).toBe(2);
    await page.getByRole('status').getByText('Live updates have ended.').waitFor();
    expect(await shownOf(page)).toEqual(before);
  });
}

/** Follows the events of a project until one was told. `refuse` has the REST API refuse so many polls from then on. */
async function followEvents(page: Page, example: LiveExample, id: number) {
  const events = someEvents();
  let refusals = 0;
  const list: Handler = (request) => {
    if (refusals === 0) return events.list(request);
    refusals -= 1;
    return refusal(403, 'permission_denied', 'No.');
  };
  example.addProject(id, { list });
  const streams = streamsOf(page);
  await followProject(page, example, id);
  const before = addNew(events, 1, 1);
  // From now on nothing but polls asks for events: the next stream goes on where this one ends.
  await expect.poll(() => shownOf(page), soon).toEqual(before);
  return { events, before, streams, refuse: (count: number) => void (refusals = count) };
}
