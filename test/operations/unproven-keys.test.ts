import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { as, together } from '../support/load.ts';
import { codesOf } from '../support/outcomes.ts';
import { notFound, refusal, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { until } from '../support/until.ts';

const unknown = refusal(401, 'authentication_failed', 'Invalid personal API key.');

/** A query of twenty REST calls that are sent together. `from` is the id of its first project. */
function twenty(from = 1): string {
  const fields = Array.from(
    { length: 20 },
    (_, index) => `p${index}: project(id: ${from + index}) { dashboards { totalCount } }`,
  );
  return `{ ${fields.join(' ')} }`;
}

test.each([
  ['401', unknown],
  ['403 with `authentication_failed`', refusal(403, 'authentication_failed', 'No.')],
])('an invented key makes eight calls of one request, whose other calls fail with them (%s)', async (_name, answer) => {
  const { upstream, gateway } = await startBoth(() => answer);
  const { errors = [] } = await gateway.ask(twenty(), as('phx_invented'));
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(Array(20).fill('UNAUTHENTICATED'));
  expect(upstream.requests).toHaveLength(8);
});

test('24 requests at a time with an invented key make eight calls, and those that follow none', async () => {
  const { upstream, gateway } = await startBoth(() => unknown, {}, { hold: 8 });
  const ask = (index: number) => gateway.ask(twenty(20 * index + 1), as('phx_invented'));
  const answers = await together(24, 24, ask);
  answers.push(...(await together(24, 24, ask)));
  for (const { errors = [] } of answers) {
    expect(new Set(errors.map(({ extensions }) => extensions['code']))).toEqual(new Set(['UNAUTHENTICATED']));
  }
  expect(upstream.requests).toHaveLength(8);
});

/** Asks, and leaves once calls wait for the proof of the key. */
async function askAndLeave(asked: TestGateway, query: string): Promise<void> {
  const { gateway } = asked;
  const controller = new AbortController();
  const answer = asked.ask(query, { ...as('phx_new'), signal: controller.signal }).catch(() => undefined);
  await until(() => gateway.resources.keys.waiting > 0);
  controller.abort();
  await answer;
  await until(() => gateway.resources.keys.waiting === 0);
}

test('a client that keeps leaving makes no more calls with an invented key than one that stays', async () => {
  const { upstream, gateway } = await startBoth(() => unknown, {}, { hold: 100 });
  for (let visit = 0; visit < 5; visit += 1) await askAndLeave(gateway, twenty(20 * visit + 1));
  expect(upstream.requests).toHaveLength(8);
  upstream.release();
  expect((await gateway.ask(twenty(200), as('phx_new'))).errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  expect(upstream.requests).toHaveLength(8);
});

test('a key is known by the answer to a call whose client has left', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const { upstream, gateway } = await startBoth(async () => {
    await mayAnswer;
    return { count: 0, next: null, results: [] };
  });
  await askAndLeave(gateway, twenty());
  await until(() => upstream.requests.length === 8);
  answer();
  await until(() => upstream.records.every(({ cancelled, endedAt }) => !cancelled && endedAt !== Infinity));
  await until(() => gateway.gateway.resources.limiter.inFlight === 0);
  upstream.reset();
  expect(codesOf(await gateway.ask(twenty(200), as('phx_new')))).toEqual([]);
  expect([upstream.requests.length, upstream.waves()]).toEqual([20, 1]);
});

test('the first answer to a new key lets the other calls go, and later requests wait for nothing', async () => {
  const { upstream, gateway } = await startBoth({ 'GET /api/projects/:id/dashboards/': listOf([]) });
  expect(codesOf(await gateway.ask(twenty()))).toEqual([]);
  expect([upstream.requests.length, upstream.waves()]).toEqual([20, 2]);
  upstream.reset();
  expect(codesOf(await gateway.ask(twenty()))).toEqual([]);
  expect([upstream.requests.length, upstream.waves()]).toEqual([20, 1]);
});

test.each([429, 500, 503])(
  'answers of status %i say nothing of a key: no more than eight of its calls are in flight',
  async (status) => {
    const answer = reply({ status, body: { type: 'server_error', code: 'error', detail: 'no' } });
    const { upstream, gateway } = await startBoth(() => answer);
    await gateway.ask(twenty());
    expect(upstream.mostInFlight).toBeLessThanOrEqual(8);
  },
);

test('an object that does not exist shows that the key is known', async () => {
  const { upstream, gateway } = await startBoth(() => notFound);
  expect(codesOf(await gateway.ask('{ project(id: 1) { name } }'))).toEqual([]);
  await gateway.ask(twenty());
  expect(upstream.mostInFlight).toBe(20);
});

test('a key that was known and is not any more has to prove itself again', async () => {
  let isKnown = true;
  const { upstream, gateway } = await startBoth(() => (isKnown ? project(1) : unknown));
  expect(codesOf(await gateway.ask('{ project(id: 1) { name } }'))).toEqual([]);
  isKnown = false;
  await gateway.ask('{ project(id: 1) { name } }');
  upstream.reset();
  const { errors = [] } = await gateway.ask(twenty());
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(Array(20).fill('UNAUTHENTICATED'));
  expect(upstream.requests).toEqual([]);
});
