import { expect, test } from 'vitest';
import { expectWithin } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { as, askTimed, codesOf, together } from '../support/load.ts';
import { apiError, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const one = '{ project(id: 1) { name } }';
const events = '{ project(id: 1) { events(first: 1) { nodes { upstreamId } } } }';
const values = '{ project(id: 1) { eventValues(key: "a") { body } } }';
const write = 'mutation { updateProject(input: { id: "1", name: "New" }) { project { name } } }';

/** An upstream that answers the first `times` requests of paths that contain `text` with 429. `onRequest` hears of each. */
async function startLimited(
  text: string,
  times: number,
  headers: Readonly<Record<string, string>>,
  onRequest?: () => void,
): Promise<Upstream> {
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
  const upstream = await startUpstream(answer);
  upstream.release();
  return upstream;
}

test('other reads of the key on that surface wait too, without a call, and come back one after the other', async () => {
  const arrivals: number[] = [];
  const onRequest = (): void => void arrivals.push(performance.now());
  await using upstream = await startLimited('projects', 1, { 'retry-after': '1' }, onRequest);
  await using gateway = await startGateway(upstream);
  const first = gateway.ask(one);
  while (upstream.records[0]?.endedAt === undefined || upstream.records[0].endedAt === Infinity)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const others = await together(10, 10, (index) => gateway.ask(`{ project(id: ${index + 2}) { name } }`));
  expect(codesOf(await first)).toEqual([]);
  expect(others.flatMap(codesOf)).toEqual([]);
  const [limitedAt = 0, ...later] = arrivals;
  expect(Math.min(...later) - limitedAt).toBeGreaterThan(950);
  expect(upstream.requests.length).toBe(12);
});

test('what cannot wait is refused at once, without a call, with the time to come back', async () => {
  await using upstream = await startLimited('projects', 1, { 'retry-after': '30' });
  await using gateway = await startGateway(upstream);
  const first = await gateway.ask(one);
  expect(first.errors?.[0]?.extensions).toEqual({
    code: 'RATE_LIMITED',
    upstream: { status: 429, code: 'throttled', detail: 'No.', retryAfter: 30 },
  });
  for (const query of ['{ project(id: 2) { name } }', one, write]) {
    const answer = await askTimed(gateway.url, query);
    const [extensions] = (answer.errors ?? []).map((error) => error.extensions);
    // What is left of the thirty seconds.
    const retryAfter: unknown = expect.toSatisfy((left: number) => left > 10 && left <= 30);
    expect(extensions).toEqual({ code: 'RATE_LIMITED', upstream: { retryAfter } });
    expectWithin(answer.tookMs, 500);
  }
  expect(upstream.requests.length).toBe(1);
});

test('neither other keys nor other surfaces are paused', async () => {
  await using upstream = await startLimited('/events/', 1, { 'retry-after': '30' });
  await using gateway = await startGateway(upstream);
  expect(codesOf(await gateway.ask(events))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(one))).toEqual([]);
  expect(codesOf(await gateway.ask(values))).toEqual([]);
  expect(codesOf(await gateway.ask(write))).toEqual([]);
  expect(codesOf(await gateway.ask(events, as('phx_other')))).toEqual([]);
  expect(codesOf(await gateway.ask(events, as('phx_tesT')))).toEqual([]);
  expect(codesOf(await gateway.ask(events))).toEqual(['RATE_LIMITED']);
});

test('each surface is paused by itself', async () => {
  await using upstream = await startLimited('/values/', 1, { 'retry-after': '30' });
  await using gateway = await startGateway(upstream);
  expect(codesOf(await gateway.ask(values))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(events))).toEqual([]);
  expect(codesOf(await gateway.ask(values))).toEqual(['RATE_LIMITED']);
});

test('a limit that does not say when it ends pauses no caller, and the read is not repeated', async () => {
  await using upstream = await startLimited('projects', 1, {});
  await using gateway = await startGateway(upstream);
  expect(codesOf(await gateway.ask(one))).toEqual(['RATE_LIMITED']);
  expect(codesOf(await gateway.ask(write))).toEqual([]);
  expect(upstream.requests).toEqual(['GET /api/projects/1/', 'PATCH /api/projects/1/']);
});
