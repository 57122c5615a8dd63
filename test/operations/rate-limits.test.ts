import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { expectWithin } from '../support/form.ts';
import { as, askTimed, codesOf, pause, together } from '../support/load.ts';
import { apiError, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event, project } from '../support/rows.ts';
import { until } from '../support/until.ts';

const one = '{ project(id: 1) { name } }';
const events = '{ project(id: 1) { events(first: 1) { nodes { upstreamId } } } }';
const values = '{ project(id: 1) { eventValues(key: "a") { body } } }';
const write = 'mutation { updateProject(input: { id: "1", name: "New" }) { project { name } } }';

/**
 * Starts a gateway over an upstream that answers 429 to the first `times` requests whose path contains `text`. Calls
 * `onRequest` for each request.
 */
async function startLimited(
  text: string,
  times: number,
  headers: Readonly<Record<string, string>>,
  onRequest?: () => void,
): ReturnType<typeof startBoth> {
  let left = times;
  const answer: Handler = ({ path }) => {
    onRequest?.();
    if (path.includes(text) && left > 0) {
      left -= 1;
      return reply({ status: 429, headers, body: apiError('throttled') });
    }
    if (path.endsWith('/values/')) return [{ name: 'x' }];
    return path.endsWith('/events/') ? { next: null, results: [event(1)] } : project(1);
  };
  return startBoth(answer, {}, { hold: 0 });
}

test('other reads of the key on that surface wait too, without a call, and come back one after the other', async () => {
  const arrivals: number[] = [];
  const onRequest = (): void => void arrivals.push(performance.now());
  const { upstream, gateway } = await startLimited('projects', 1, { 'retry-after': '1' }, onRequest);
  const first = gateway.ask(one);
  await until(() => upstream.records.some(({ endedAt }) => endedAt !== Infinity));
  await pause(20);
  const others = await together(10, 10, (index) => gateway.ask(`{ project(id: ${index + 2}) { name } }`));
  expect(codesOf(await first)).toEqual([]);
  expect(others.flatMap(codesOf)).toEqual([]);
  const [limitedAt = 0, ...later] = arrivals;
  expect(Math.min(...later) - limitedAt).toBeGreaterThan(950);
  expect(upstream.requests.length).toBe(12);
});

test('what cannot wait is refused at once, without a call, with the time to come back', async () => {
  const { upstream, gateway } = await startLimited('projects', 1, { 'retry-after': '30' });
  const first = await gateway.ask(one);
  expect(first.errors?.[0]?.extensions).toEqual({
    code: 'RATE_LIMITED',
    upstream: { status: 429, code: 'throttled', detail: 'No.', retryAfter: 30 },
  });
  for (const query of ['{ project(id: 2) { name } }', one, write]) {
    const answer = await askTimed(gateway.url, query);
    const [extensions] = (answer.errors ?? []).map((error) => error.extensions);
    // The rest of the thirty seconds.
    const retryAfter: unknown = expect.toSatisfy((left: number) => left > 10 && left <= 30);
    expect(extensions).toEqual({ code: 'RATE_LIMITED', upstream: { retryAfter } });
    expectWithin(answer.tookMs, 500);
  }
  expect(upstream.requests.length).toBe(1);
});

test('neither other keys nor other surfaces are paused', async () => {
  const { gateway } = await startLimited('/events/', 1, { 'retry-after': '30' });
  expect(codesOf(await gateway.ask(events))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(one))).toEqual([]);
  expect(codesOf(await gateway.ask(values))).toEqual([]);
  expect(codesOf(await gateway.ask(write))).toEqual([]);
  expect(codesOf(await gateway.ask(events, as('phx_other')))).toEqual([]);
  expect(codesOf(await gateway.ask(events, as('phx_tesT')))).toEqual([]);
  expect(codesOf(await gateway.ask(events))).toEqual(['RATE_LIMITED']);
});

test('each surface is paused by itself', async () => {
  const { gateway } = await startLimited('/values/', 1, { 'retry-after': '30' });
  expect(codesOf(await gateway.ask(values))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(events))).toEqual([]);
  expect(codesOf(await gateway.ask(values))).toEqual(['RATE_LIMITED']);
});

test('a limit that does not say when it ends pauses no caller, and the read is not repeated', async () => {
  const { upstream, gateway } = await startLimited('projects', 1, {});
  expect(codesOf(await gateway.ask(one))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(write))).toEqual([]);
  expect(upstream.requests).toEqual(['GET /api/projects/1/', 'PATCH /api/projects/1/']);
});
