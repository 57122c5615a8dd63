import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, seriousFindings, startBrowser, type TestBrowser } from '../support/browser.ts';
import { testAwayGateway } from './away-gateway.ts';
import { testDeferredDetails } from './deferred-details.ts';
import {
  addNew,
  followEvents,
  type Live,
  type LiveExample,
  openPage,
  openProject,
  shownOf,
  soon,
  startLiveExample,
  streamsOf,
  untilPolled,
} from './live-example.ts';
import { testRefusedStreams } from './refused-streams.ts';

describe.skipIf(!hasChromium)(
  'What comes bit by bit on the page of examples/web (needs chromium)',
  { timeout: 60_000 },
  () => {
    const started = new AsyncDisposableStack();
    let browser: TestBrowser;
    let example: LiveExample;

    beforeAll(async () => {
      browser = started.use(await startBrowser());
      example = await startLiveExample(started);
    }, 60_000);

    afterAll(() => started.disposeAsync());

    const live = (): Live => ({ browser, example });

    testDeferredDetails(live);
    testRefusedStreams(live);
    testAwayGateway(live);

    test('shows new events as they come, each once, and draws the eye to them if motion is welcome', async () => {
      const { page, errors, events } = await followEvents(live());
      const first = addNew(events, 1, 3);
      await expect.poll(() => shownOf(page), soon).toEqual(first);
      const motion = (): Promise<unknown> =>
        page.evaluate('getComputedStyle(document.querySelector("tr.new")).animationName');
      expect(await motion()).toBe('arrive');
      await page.emulateMedia({ reducedMotion: 'reduce' });
      expect(await motion()).toBe('none');
      const second = addNew(events, 4, 1);
      await expect.poll(() => shownOf(page), soon).toEqual([...second, ...first]);
      await page.getByText('3 new events').waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Load more events' }).click();
      await expect.poll(() => page.getByRole('row').count(), soon).toBe(1 + 4 + 12);
      expect(errors).toEqual([]);
    });

    test('holds new events back from a reader who pauses, by keyboard alone', async () => {
      const { page, errors, picture, events } = await followEvents(live());
      const pause = page.getByRole('button', { name: 'Pause' });
      await pause.focus();
      await page.keyboard.press('Space');
      await page.getByRole('status').getByText('Paused').waitFor();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      const names = addNew(events, 1, 12);
      const news = page.getByRole('button', { name: '12 new events' });
      await news.waitFor();
      expect(await shownOf(page)).toEqual([]);
      await picture('example-paused');
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await expect.poll(() => shownOf(page), soon).toEqual(names);
      expect(await page.evaluate('document.activeElement.id')).toBe('events');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await page.getByRole('status').getByText('Live').waitFor();
      expect(errors).toEqual([]);
    });

    test('leaves what a reader is at where it is', async () => {
      const small = (page: Page): Promise<void> => page.setViewportSize({ width: 1000, height: 420 });
      const { page, picture, events } = await followEvents(live(), small);
      const row = page.getByRole('row').last();
      await row.scrollIntoViewIfNeeded();
      // Only now is the place of the reader known.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
      const before = await row.boundingBox();
      const names = addNew(events, 1, 12);
      const news = page.getByRole('button', { name: '12 new events' });
      await news.waitFor();
      await picture('example-scrolled');
      expect(await row.boundingBox()).toEqual(before);
      expect(await shownOf(page)).toEqual([]);
      await news.click();
      await expect.poll(() => shownOf(page), soon).toEqual(names);
      await expect
        .poll(() =>
          page
            .getByRole('row')
            .nth(1)
            .boundingBox()
            .then((box) => (box?.y ?? 0) > 0),
        )
        .toBe(true);
    });

    test.each([
      ['that told something', 2],
      ['before it told anything', 0],
    ])('loses and doubles no event over a lost connection %s', async (_name, told) => {
      const { page, events, id } = await followEvents(live());
      const before = addNew(events, 1, told);
      await expect.poll(() => shownOf(page), soon).toEqual(before);
      await example.stopGateway();
      await page.getByRole('status').getByText('Reconnecting…').waitFor();
      expect(await page.getByRole('row').count()).toBe(1 + 10 + told);
      const meanwhile = addNew(events, told + 1, 4);
      const asked = example.upstream.requests.length;
      await example.startGateway();
      await expect.poll(() => shownOf(page), soon).toEqual([...meanwhile, ...before]);
      await untilPolled(example, id, asked);
      const after = addNew(events, told + 5, 1);
      await expect.poll(() => shownOf(page), soon).toEqual([...after, ...meanwhile, ...before]);
      await page.getByRole('status').getByText('Live').waitFor();
    });

    test('shows what was left out if too much came at once, and keeps only so many rows', async () => {
      const { page, picture, events } = await followEvents(live());
      const rows = (): Promise<number> => page.locator('tr').count();
      // A poll reads eleven pages of a hundred.
      for (let second = 10; second < 40; second += 1) events.add(50, `2024-05-01T09:30:${second}Z`);
      addNew(events, 1, 2);
      await page.getByText('Some events were not shown').waitFor();
      await page.getByText('Only the newest 500 events').waitFor();
      expect(await rows()).toBe(501);
      expect((await shownOf(page)).slice(0, 2)).toEqual(['new 2', 'new 1']);
      await picture('example-gap');
      await page.getByRole('button', { name: 'Reload the list' }).first().click();
      await expect.poll(rows, soon).toBe(11);
      expect(await page.getByText('Some events were not shown').count()).toBe(0);
      addNew(events, 3, 1);
      await expect.poll(async () => (await shownOf(page)).slice(0, 2), soon).toEqual(['new 3', 'new 2']);
    });

    test('gives the connection back while the tab is hidden, and misses nothing', async () => {
      const other = example.addProject();
      const { page, events } = await followEvents(live(), ({ clock }) => clock.install());
      const first = addNew(events, 1, 1);
      await expect.poll(() => shownOf(page), soon).toEqual(first);
      const setHidden = (hidden: boolean): Promise<unknown> =>
        page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
      await setHidden(true);
      await page.clock.fastForward('01:01');
      await expect.poll(() => example.streams(), soon).toBe(0);
      const rest = addNew(events, 2, 5);
      await setHidden(false);
      await expect.poll(() => shownOf(page), soon).toEqual([...rest, ...first]);
      await page.getByRole('link', { name: `Project ${other}` }).click();
      await page.getByRole('heading', { name: `Project ${other}` }).waitFor();
      await expect.poll(() => example.streams(), soon).toBe(1);
      await page.goto('about:blank');
      await expect.poll(() => example.streams(), soon).toBe(0);
    });

    test('says that live updates are off where they are, and asks for them once', async () => {
      const { page, picture } = await openPage(live());
      await example.stopGateway();
      await example.startGateway({ live: undefined });
      const streams = streamsOf(page);
      await openProject(page, example, example.addProject());
      await page.getByText('Live updates are off').waitFor();
      await page.getByText('10 events loaded').waitFor();
      await picture('example-live-off');
      expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Load more events' }).click();
      await page.getByText('12 events loaded').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(streams).toHaveLength(1);
      await example.stopGateway();
      await example.startGateway();
    });
  },
);
