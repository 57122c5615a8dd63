import type { Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, seriousFindings, startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDocumented } from './documented-picture.ts';
import { type Example, openAs, startExample } from './example.ts';

describe.skipIf(!hasChromium)('The page of examples/web (needs chromium)', { timeout: 60_000 }, () => {
  const started = new AsyncDisposableStack();
  let browser: TestBrowser;
  let example: Example;

  beforeAll(async () => {
    browser = started.use(await startBrowser());
    example = await startExample(started);
  }, 60_000);

  afterAll(() => started.disposeAsync());

  test('lists projects, dashboards and events, and pages through them, by ids, without a key and at no other host', async () => {
    await using opened = await browser.open();
    const { page, picture, errors, origins } = opened;
    const asked: Request[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql')) asked.push(request);
    });
    await openAs(page, 'ada', example.url);
    await page.getByRole('heading', { name: 'Booking website' }).waitFor();
    expect(await page.getByRole('navigation').getByRole('link').allInnerTexts()).toEqual([
      'Booking website\nEurope/Berlin',
      'iOS app\nEurope/Berlin',
      'Android app\nAsia/Kolkata',
      'Partner portal\nEurope/Madrid',
    ]);
    const dashboards = page.getByRole('region', { name: 'Dashboards' });
    const events = page.getByRole('region', { name: 'Latest events' });
    await dashboards.getByText('6 dashboards loaded').waitFor();
    await events.getByText('10 events loaded').waitFor();
    await events.getByRole('status').getByText('Live').waitFor();
    await dashboards.getByRole('listitem').first().getByText('Last 30 days').waitFor();
    await picture('example');
    expect(asked.length).toBeGreaterThanOrEqual(4);
    for (const request of asked) {
      expect(request.postDataJSON()).toEqual({
        documentId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown,
        variables: expect.any(Object) as unknown,
      });
      expect(await request.headerValue('authorization')).toBeNull();
    }
    expect(await page.evaluate('document.cookie + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).toBe(
      '[{},{}]',
    );
    const bodies = asked.map((request) => request.postData());
    expect(new Set(bodies).size).toBe(bodies.length);

    await dashboards.getByRole('button', { name: 'Load more dashboards' }).click();
    await dashboards.getByText('10 dashboards loaded').waitFor();
    expect(await dashboards.getByRole('button', { name: 'Load more dashboards' }).count()).toBe(0);
    await events.getByRole('button', { name: 'Load more events' }).click();
    await events.getByText('20 events loaded').waitFor();
    const times = await events
      .getByRole('time')
      .evaluateAll((all) => all.map((time) => time.getAttribute('title') ?? ''));
    expect(new Set(times).size).toBe(20);
    expect(times).toEqual(times.toSorted((one, other) => (one < other ? 1 : -1)));

    await page.getByRole('link', { name: 'iOS app' }).click();
    await page.getByRole('heading', { name: 'iOS app' }).waitFor();
    await events.getByText('10 events loaded').waitFor();
    expect(await page.title()).toBe('iOS app · Workspace');
    await page.goBack();
    await page.getByRole('heading', { name: 'Booking website' }).waitFor();
    expect([...origins]).toEqual([new URL(example.url).origin]);
    expect(errors).toEqual([]);
  });

  test('lets an editor pin a dashboard, and tells a viewer of the same tenant that it may not', async () => {
    await using opened = await browser.open();
    const { page, picture, errors } = opened;
    await openAs(page, 'ada', example.url);
    const cards = page.getByRole('region', { name: 'Dashboards' }).getByRole('listitem');
    const second = cards.nth(1);
    const pin = second.getByRole('button');
    await pin.waitFor();
    const before = await pin.innerText();
    const after = before === 'Pin' ? 'Pinned' : 'Pin';
    await pin.click();
    await second.getByRole('button', { name: after, exact: true }).waitFor();
    await page.reload();
    await second.getByRole('button', { name: after, exact: true }).waitFor();
    await openAs(page, 'vera', example.url);
    await second.getByRole('button', { name: after, exact: true }).click();
    await second.getByRole('alert').getByText('You may not do that here.').waitFor();
    expect(await second.getByRole('button').innerText()).toBe(after);
    await picture('viewer');
    // As it was, for the other tests.
    await openAs(page, 'ada', example.url);
    await second.getByRole('button', { name: after, exact: true }).click();
    await second.getByRole('button', { name: before, exact: true }).waitFor();
    expect(errors).toEqual([]);
  });

  test('lets a user in, shows what the tenant of the user may reach, and lets the user out', async () => {
    await using opened = await browser.open();
    const { page, picture } = opened;
    const links = page.getByRole('navigation').getByRole('link');
    await page.goto(example.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await picture('example-sign-in');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Bruno' }).click();
    await page.getByRole('heading', { name: 'Partner portal' }).waitFor();
    expect(await links.allInnerTexts()).toEqual(['Partner portal\nEurope/Madrid']);
    await page.goto(`${example.url}#1`);
    await page.getByText('There is no such project.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Ada' }).click();
    await page.getByRole('heading', { name: 'Booking website' }).waitFor();
    await expect.poll(() => links.count()).toBeGreaterThanOrEqual(4);
    expect((await page.context().cookies()).map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
      ['token', true, 'Strict'],
    ]);
  });

  test('keeps what came if a part is missing, and says after how long another try may do', async () => {
    await using opened = await browser.open();
    const { page, picture } = opened;
    const errors = [
      {
        message: 'The key has used up its calls.',
        path: ['project', 'organization'],
        extensions: { code: 'RATE_LIMITED', upstream: { status: 429, retryAfter: 42 } },
      },
    ];
    await page.route('**/graphql', async (route) => {
      const headers = route.request().headers();
      if (headers['accept'] === 'text/event-stream') return route.continue();
      // Not in parts: nothing of it is deferred then.
      const response = await route.fetch({ headers: { ...headers, accept: 'application/json' } });
      const answer = await response.text();
      return route.fulfill({ response, body: `${answer.slice(0, -1)},"errors":${JSON.stringify(errors)}}` });
    });
    await openAs(page, 'ada', example.url);
    await page.getByRole('heading', { name: 'Booking website' }).waitFor();
    const failures = page.getByRole('alert');
    await failures.getByText('Not everything of the project could be loaded.').waitFor();
    expect(await failures.first().innerText()).toContain('Try again in 42 seconds.');
    await page.getByText('10 events loaded').waitFor();
    await picture('example-partial');
  });

  test('says that it loads, and when there is nothing', async () => {
    await using opened = await browser.open();
    const { page, picture } = opened;
    const project = await example.createProject('Nothing yet');
    const answered = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      await answered.promise;
      await route.continue();
    });
    await openAs(page, 'ada', `${example.url}#${project}`);
    await page.getByText('Loading projects…').waitFor();
    await page.getByText('Loading events…').waitFor();
    await picture('example-loading');
    answered.resolve();
    await page.getByRole('heading', { name: 'Nothing yet' }).waitFor();
    await page.getByText('This project has no dashboards yet.').waitFor();
    await page.getByText('This project has captured no events yet.').waitFor();
    await picture('example-empty');
    await page.goto(`${example.url}#987654`);
    await page.getByText('There is no such project.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('keeps what is there while the upstream is down, says so, and recovers', async () => {
    await using opened = await browser.open();
    const { page, picture } = opened;
    const failures = page.getByRole('alert');
    await openAs(page, 'ada', example.url);
    await page.getByText('10 events loaded').waitFor();

    await example.upstream.stop();
    await page.getByRole('button', { name: 'Load more events' }).click();
    await failures.getByText('The events could not be loaded.').waitFor();
    await failures.getByText('UPSTREAM_UNAVAILABLE').waitFor();
    expect(await page.getByRole('row').count()).toBe(11);
    await page.getByRole('link', { name: 'iOS app' }).click();
    await failures.nth(2).waitFor();
    await page.reload();
    await failures.nth(3).waitFor();
    await picture('example-failure');
    expect(await failures.evaluateAll((all) => all.map((alert) => alert.scrollWidth > alert.clientWidth))).toEqual(
      Array.from({ length: 4 }, () => false),
    );

    await example.upstream.start();
    const retry = failures.getByRole('button', { name: 'Try again' }).first();
    while ((await failures.count()) > 0) {
      // It may be gone, or say `Trying…`, by then.
      await retry.click({ timeout: 500 }).catch(() => undefined);
    }
    await page.getByRole('heading', { name: 'iOS app' }).waitFor();
    await page.getByText('6 dashboards loaded').waitFor();
    await page.getByText('10 events loaded').waitFor();
    await page.getByRole('button', { name: 'Load more events' }).click();
    await page.getByText('20 events loaded').waitFor();
  });

  test('fits a telephone of 390 and of 320 pixels, in the dark, without serious findings of axe', async () => {
    await using opened = await browser.open();
    const { page, picture } = opened;
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    await openAs(page, 'ada', example.url);
    await page.getByText('10 events loaded').waitFor();
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await picture(`example-telephone-${width}`);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect([width, overflow, await seriousFindings(page)]).toEqual([width, 0, []]);
    }
  });

  describe('over a gateway without a list of documents', () => {
    let unlisted: Example;

    beforeAll(async () => {
      unlisted = await startExample(started, { PERSISTED_DOCUMENTS_MODE: 'off' }, { eventsPerMinute: 600 });
    }, 60_000);

    test('has no error at the first start, and is live', async () => {
      // For a person to read, and without a refused request before a browser is open.
      expect(unlisted.output()).not.toMatch(/\{"level"|operation|BAD_USER_INPUT|UNAUTHENTICATED/);
      await using opened = await browser.open();
      const { page, errors, picture } = opened;
      await openAs(page, 'ada', unlisted.url);
      await page.getByText('10 events loaded').waitFor();
      await picture('example-without-list');
      await page.locator('tr.new').first().waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      // The browser's own, of the first answers to ids.
      expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
      expect(unlisted.output()).toMatch(/INFO: Projects [\d.]+ ms, 1 call/);
      expect(unlisted.output()).not.toMatch(/error|\{"level"/);
    });

    test('looks as its README shows it', async () => {
      await using opened = await browser.open();
      const { page } = opened;
      await page.setViewportSize({ width: 1280, height: 1160 });
      await openAs(page, 'ada', unlisted.url);
      await page.getByText('6 dashboards loaded').waitFor();
      await page.getByText('10 events loaded').waitFor();
      await expect.poll(() => page.locator('dd[aria-busy="true"]').count()).toBe(0);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: /^\d+ new events$/ }).waitFor();
      await expectDocumented(page, 'examples/web/page.png', 'tbody, .visually-hidden');
    });
  });
});
