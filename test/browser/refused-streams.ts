import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { refusal } from '../support/replies.ts';
import { addNew, followEvents, type Live, shownOf, soon, streamsOf } from './live-example.ts';

/** Tests of what the page does if a stream is refused that had opened, with a browser and a page as the others. */
export function testRefusedStreams(started: () => Live): void {
  test('goes on behind a stream that is refused after it had opened, if the next one is taken', async () => {
    const { page, events, before, streams, refuse } = await followRefused(started());
    refuse(1);
    await expect.poll(() => streams.length, soon).toBe(2);
    const after = addNew(events, 2, 1);
    await expect.poll(() => shownOf(page), soon).toEqual([...after, ...before]);
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  });

  test('tries once more after a stream is refused that had opened, and is done if that is refused as well', async () => {
    const { page, before, streams, refuse } = await followRefused(started());
    refuse(Number.POSITIVE_INFINITY);
    await expect.poll(() => streams.length, soon).toBe(2);
    await page.getByRole('status').getByText('Live updates have ended.').waitFor();
    expect(await shownOf(page)).toEqual(before);
  });
}

/** Follows the events of a project until one was told. `refuse` has the REST API refuse so many polls from then on. */
async function followRefused(live: Live) {
  let refusals = 0;
  let streams: readonly unknown[] = [];
  const note = async (page: Page): Promise<void> => void (streams = streamsOf(page));
  const { page, events } = await followEvents(live, note, (own) => (request) => {
    if (refusals === 0) return own.list(request);
    refusals -= 1;
    return refusal(403, 'permission_denied', 'No.');
  });
  const before = addNew(events, 1, 1);
  // From now on nothing but polls asks for events: the next stream goes on where this one ends.
  await expect.poll(() => shownOf(page), soon).toEqual(before);
  return { page, events, before, streams, refuse: (count: number) => void (refusals = count) };
}
