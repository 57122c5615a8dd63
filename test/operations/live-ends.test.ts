import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { at } from '../support/connections.ts';
import { inForm } from '../support/form.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { begun, follow, GrowingEvents, quick, stall, startEvents, startLive, subscribe } from '../support/live.ts';
import { keepOperations, metricsOf } from '../support/metrics.ts';
import { refusal } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startSmallGateway } from '../support/small-gateway.ts';
import { startBothTenants, startTenants } from '../support/tenants.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';
import { openWith, postOf } from '../support/wire.ts';

async function streamsOf(gateway: Pick<TestGateway, 'url'>): Promise<number> {
  return Number(/^gateway_streams (\d+)$/m.exec(await metricsOf(gateway))?.[1]);
}

/** Subscribes and unsubscribes `count` listeners, twenty at a time. */
async function comeAndGo(url: string, count: number): Promise<void> {
  for (let listeners = 0; listeners < count; listeners += 20) {
    const some = await Promise.all(Array.from({ length: 20 }, () => subscribe(url)));
    await Promise.all(some.map((heard) => heard[Symbol.asyncDispose]()));
  }
}

test.each([
  [401, 'authentication_failed', 'UNAUTHENTICATED'],
  [403, 'permission_denied', 'FORBIDDEN'],
  [404, 'not_found', 'NOT_FOUND'],
  [400, 'invalid_input', 'BAD_USER_INPUT'],
])('a stream ends with an error when the upstream answers %i', async (status, code, expected) => {
  const events = new GrowingEvents();
  let failing = false;
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/1/events/': (request) => (failing ? refusal(status, code, 'No.') : events.list(request)),
    },
    { live: quick },
  );
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  failing = true;
  await heard.until(() => heard.ended !== undefined);
  expect([heard.ended, heard.messages]).toMatchObject(['complete', [{ errors: [{ extensions: { code: expected } }] }]]);
  await expect.poll(() => streamsOf(gateway)).toBe(0);
});

test('a stream goes on when the upstream has failed for a while, and sends what came meanwhile', async () => {
  const events = new GrowingEvents();
  events.add(1, '2024-05-01T10:00:00Z');
  let failing = false;
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/1/events/': (request) => (failing ? refusal(500, 'error', 'No.') : events.list(request)),
    },
    { live: quick },
    { hold: 0 },
  );
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  failing = true;
  await begun(upstream);
  const added = events.add(3, '2024-05-01T10:00:01Z');
  failing = false;
  await heard.until(() => heard.ids().length === 3);
  expect([heard.ids(), heard.ended]).toEqual([added, undefined]);
});

test('a stream goes on although its budget cannot say how often to poll', async () => {
  const backoffOf = (): number => {
    throw new Error('the budget is gone');
  };
  const { upstream, events, gateway } = await startLive({ live: { ...quick, backoffOf } });
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const added = events.add(1, '2024-05-01T10:00:01Z');
  await heard.until(() => heard.ids().length === 1);
  expect(heard.ids()).toEqual(added);
});

test('a stream ends with an error when its token expires', async () => {
  await using upstream = await startEvents();
  await using gateway = await startTenants(upstream, { acme: { key: 'phx_acme' } }, { live: quick });
  // Half a minute of tolerance is over in a moment.
  const exp = Math.floor(Date.now() / 1000) - 28;
  await using heard = await subscribe(gateway.url, { headers: await gateway.headersOf('acme', { claims: { exp } }) });
  expect(heard.status).toBe(200);
  await heard.until(() => heard.ended !== undefined);
  expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
});

test("a stream ends with an error when its tenant's entry changes, and those of other tenants go on", async () => {
  await using upstream = await startEvents();
  const { events } = upstream;
  const entries = { acme: { key: 'phx_shared', projects: ['1'] }, globex: { key: 'phx_shared' } };
  await using gateway = await startTenants(upstream, entries, { live: quick });
  await using changed = await subscribe(gateway.url, { headers: await gateway.headersOf('acme') });
  await using same = await subscribe(gateway.url, { headers: await gateway.headersOf('globex') });
  await begun(upstream);
  gateway.take({ ...entries, acme: { key: 'phx_shared', projects: ['1', '2'] } });
  await changed.until(() => changed.ended !== undefined);
  expect(changed.messages).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
  events.add(2, '2024-05-01T10:00:01Z');
  await same.until(() => same.ids().length === 2);
  expect(upstream.mostInFlight).toBe(1);
});

test('a message that is read while its tenant changes is not sent any more', async () => {
  const events = new GrowingEvents();
  events.add(1, '2024-05-01T10:00:00Z');
  const read = Promise.withResolvers<void>();
  const { upstream, gateway } = await startBothTenants(
    {
      'GET /api/projects/1/events/': events.list,
      'GET /api/projects/1/': async () => {
        await read.promise;
        return project(1);
      },
    },
    { acme: { key: 'phx_acme' } },
    { live: quick },
    { hold: 0 },
  );
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId project { name } } } }';
  await using heard = await subscribe(gateway.url, { headers: await gateway.headersOf('acme'), query });
  await begun(upstream);
  events.add(1, '2024-05-01T10:00:01Z');
  await expect.poll(() => upstream.requests).toContain('GET /api/projects/1/');
  gateway.take({ acme: { key: 'phx_acme', projects: ['2'] } });
  read.resolve();
  await heard.until(() => heard.ended !== undefined);
  expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
});

test('a key of a tenant that the upstream does not take ends the stream, and its client learns no more than that', async () => {
  const { gateway } = await startBothTenants(
    () => refusal(401, 'authentication_failed', 'Invalid key.'),
    { acme: { key: 'phx_gone' } },
    { live: quick },
  );
  await using heard = await subscribe(gateway.url, { headers: await gateway.headersOf('acme') });
  await heard.until(() => heard.ended !== undefined);
  expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] }]);
});

test('a gateway that stops cuts its streams without an end, so that clients connect again', async () => {
  await using upstream = await startEvents();
  const gateway = await startGateway(upstream, { live: quick }, { drainMs: 60_000 });
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  await gateway[Symbol.asyncDispose]();
  await heard.until(() => heard.ended !== undefined);
  expect([heard.ended, heard.messages]).toEqual(['cut', []]);
});

test('more streams than a caller, or a process, may have are refused at once, and it is said which', async () => {
  const { upstream, gateway } = await startLive({ live: { ...quick, maxStreams: 3, maxStreamsPerCaller: 2 } });
  const ofOther = { authorization: 'Bearer phx_other' };
  await using one = await subscribe(gateway.url);
  await begun(upstream);
  await using two = await subscribe(gateway.url);
  await using refused = await subscribe(gateway.url);
  await using other = await subscribe(gateway.url, { headers: ofOther });
  await using full = await subscribe(gateway.url, { headers: ofOther });
  expect([one, two, refused, other, full].map(({ status }) => status)).toEqual([200, 200, 503, 200, 503]);
  await refused.until(() => refused.ended === 'complete');
  expect(refused.headers.get('retry-after')).toBe('1');
  const message = 'The caller has as many open streams as it may have: close one, or try again later.';
  expect(refused.messages).toMatchObject([{ errors: [{ message, extensions: { code: 'OVERLOADED' } }] }]);
  await full.until(() => full.ended === 'complete');
  const general = 'The gateway has too much to do at the moment; try again later.';
  expect(full.messages).toMatchObject([{ errors: [{ message: general, extensions: { code: 'OVERLOADED' } }] }]);
  two.leave();
  await expect.poll(() => streamsOf(gateway)).toBe(2);
  await using again = await subscribe(gateway.url);
  expect(again.status).toBe(200);
});

test('while the upstream is down, keys that it has not accepted hold at most half of the streams of a process', async () => {
  const events = new GrowingEvents();
  let isDown = false;
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/1/events/': (request) => (isDown ? refusal(503, 'error', 'Down.') : events.list(request)),
    },
    { live: { ...quick, maxStreams: 6 } },
    { hold: 0 },
  );
  const withKey = (of: string) => subscribe(gateway.url, { headers: { authorization: `Bearer ${of}` } });
  await using proven = await subscribe(gateway.url);
  await begun(upstream);
  isDown = true;
  await using one = await withKey('phx_invented_1');
  await using two = await withKey('phx_invented_2');
  await using three = await withKey('phx_invented_3');
  await using refused = await withKey('phx_invented_4');
  await using further = await subscribe(gateway.url);
  const all = [proven, one, two, three, refused, further];
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 503, 200]);
  isDown = false;
  // Once their keys have been accepted, these streams leave places for further keys.
  await until(async () => {
    await using last = await withKey('phx_invented_4');
    return last.status === 200;
  });
});

test('a subscription is refused at once if a window of the budget never has room for a whole poll', async () => {
  const live = { pollMs: 50, maxStreams: 10, maxStreamsPerCaller: 10 };
  const { upstream, gateway } = await startLive({ live, budget: budgetOf({ events: '240/60,10/3600' }) });
  await using refused = await subscribe(gateway.url);
  await refused.until(() => refused.ended === 'complete');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
  const message =
    'The subscription needs room for a poll of up to 11 REST calls of the surface events, more than the 10 in 3600 seconds that it may make.';
  expect(refused.messages).toEqual([{ errors: [{ message, extensions: { code: 'RATE_LIMITED' } }] }]);
  expect([await streamsOf(gateway), upstream.requests, gateway.reported]).toEqual([0, [], []]);
  await using roomy = await startGateway(upstream, {
    live,
    budget: budgetOf({ events: '240/60,11/3600', rest: '1/60' }),
  });
  await using heard = await subscribe(roomy.url);
  expect(heard.status).toBe(200);
});

test('a user whose share of the budget has no room for a whole poll is refused a subscription', async () => {
  await using upstream = await startEvents();
  const live = { pollMs: 50, maxStreams: 10, maxStreamsPerCaller: 10 };
  const budget = budgetOf({ events: '100/60' }, { share: 10 });
  await using gateway = await startTenants(upstream, { acme: { key: 'phx_acme' } }, { live, budget });
  await using refused = await subscribe(gateway.url, { headers: await gateway.headersOf('acme') });
  await refused.until(() => refused.ended === 'complete');
  expect([refused.status, refused.messages]).toMatchObject([
    429,
    [{ errors: [{ extensions: { code: 'RATE_LIMITED' } }] }],
  ]);
  expect(refused.messages[0]?.errors?.[0]?.message).toContain('the 10 in 60 seconds');
});

test('a listener that stops reading is closed, and delays no other', async () => {
  const { upstream, events, gateway } = await startLive({ live: { ...quick, pollMs: 50 } });
  const stalled = await stall(gateway.url);
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const properties = 'x'.repeat(3000);
  for (let turn = 1; (await streamsOf(gateway)) > 1 && turn < 200; turn += 1) {
    // So far apart that no poll reads what was told before.
    events.add(100, new Date(Date.parse('2024-05-01T10:00:00Z') + turn * 120_000).toISOString(), { properties });
    await heard.until(() => heard.ids().length === turn * 100);
  }
  expect(await streamsOf(gateway)).toBe(1);
  expect(new Set(heard.ids()).size).toBe(heard.ids().length);
  stalled.destroy();
});

// Only in the whole form: it takes a quarter of a minute, for polls come every two seconds at most.
test.each(inForm([], [3]))('%i listeners that stop reading take little memory, and give it back', async (count) => {
  await using upstream = await startEvents();
  const { events } = upstream;
  await using gateway = await startSmallGateway(upstream, {
    LIVE: 'on',
    LIVE_POLL_SECONDS: '2',
    UPSTREAM_BUDGET: 'rest=100000/60 events=100000/60',
  });
  const stalled = await Promise.all(Array.from({ length: count }, () => stall(gateway.url)));
  await using heard = await subscribe(gateway.url);
  await expect.poll(() => upstream.requests.length, { timeout: 20_000 }).toBeGreaterThan(1);
  const { live } = await gateway.weigh();
  const properties = 'x'.repeat(10_000);
  for (let turn = 1; (await streamsOf(gateway)) !== 1 && turn < 40; turn += 1) {
    events.add(1000, new Date(Date.parse('2024-05-01T10:00:00Z') + turn * 120_000).toISOString(), { properties });
    await heard.until(() => heard.ids().length === turn * 1000);
    // Messages that wait for several listeners are kept once, and have room for 96 MiB.
    expect((await gateway.weigh()).live).toBeLessThan(live + 110 * 2 ** 20);
  }
  expect(await streamsOf(gateway)).toBe(1);
  await expect.poll(async () => (await gateway.weigh()).live).toBeLessThan(live + 30 * 2 ** 20);
  for (const socket of stalled) socket.destroy();
});

test('connects and disconnects leave nothing', async () => {
  const { upstream, gateway } = await startLive();
  await comeAndGo(gateway.url, inForm(300, 10_000));
  await expect.poll(() => streamsOf(gateway)).toBe(0);
  const { length } = upstream.requests;
  await using heard = await subscribe(gateway.url);
  await expect.poll(() => upstream.requests.length).toBeGreaterThan(length + 1);
  // It is the first of a new tail: none of the others is followed any more.
  expect(upstream.requests[length]).toMatch(/events\/\?limit=100&before=[^&]*$/);
  expect(heard.status).toBe(200);
  expect(gateway.reported).toEqual([]);
}, 200_000);

test('connects and disconnects leave no memory, timer or socket behind', async () => {
  await using upstream = await startEvents();
  await using gateway = await startSmallGateway(upstream, { LIVE: 'on' });
  // The first listeners leave behind all that is made only once.
  await comeAndGo(gateway.url, 200);
  const resources = async (): Promise<number> => (await gateway.weigh()).resources;
  await expect.poll(() => streamsOf(gateway)).toBe(0);
  const { live, resources: atFirst } = await gateway.weigh();
  await comeAndGo(gateway.url, inForm(200, 10_000));
  await expect.poll(() => streamsOf(gateway)).toBe(0);
  // The few that come and go by themselves are not counted.
  await expect.poll(resources).toBeLessThan(atFirst + 10);
  expect((await gateway.weigh()).live).toBeLessThan(live + 2 * 2 ** 20);
}, 200_000);

test('the log has a line of a stream when it has ended: its messages, its calls and the code that ended it', async () => {
  const { lines, log } = keepOperations();
  const { upstream, events, gateway } = await startLive({ log });
  const heard = await subscribe(gateway.url, { query: follow.replace('subscription', 'subscription Tail') });
  await begun(upstream);
  events.add(1, '2024-05-01T10:00:01Z');
  await heard.until(() => heard.ids().length === 1);
  expect(lines).toEqual([]);
  await heard[Symbol.asyncDispose]();
  await expect.poll(() => lines).toMatchObject([{ operationName: 'Tail', messages: 1, calls: 0, codes: [] }]);
  const metrics = await gateway.gateway.metrics.render();
  expect(metrics).toMatch(/^gateway_stream_messages_total 1$/m);
  expect(metrics).toMatch(/^gateway_stream_polls_total [1-9]\d*$/m);
  expect(metrics).toMatch(/^gateway_operations_total\{code="none"\} 1$/m);
  expect(metrics).toMatch(/^gateway_operations_in_flight 0$/m);
});

test('the calls of a message that many get are counted once in the log', async () => {
  const events = new GrowingEvents();
  events.add(1, '2024-05-01T10:00:00Z');
  await using upstream = await startUpstream({
    'GET /api/projects/1/': project(1),
    'GET /api/projects/1/events/': events.list,
  });
  upstream.release();
  const { lines, log } = keepOperations();
  await using gateway = await startGateway(upstream, { live: quick, log });
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId project { name } } } }';
  const all = await Promise.all([1, 2, 3].map(() => subscribe(gateway.url, { query })));
  await begun(upstream);
  events.add(1, '2024-05-01T10:00:01Z');
  await Promise.all(all.map((heard) => heard.until(() => heard.ids().length === 1)));
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
  const calls = (): number[] => lines.map((line) => Number(at(line, 'calls'))).toSorted((one, other) => one - other);
  await expect.poll(calls).toEqual([0, 0, 1]);
  expect(upstream.requests.filter((request) => request === 'GET /api/projects/1/')).toHaveLength(1);
});

test('the span of a subscription whose client leaves while it opens ends once, and says so', async () => {
  const codes: (string | undefined)[] = [];
  const asked = Promise.withResolvers<void>();
  const epoch = Promise.withResolvers<string>();
  const never = (): never => {
    throw new Error('expected no write, and no call in the span');
  };
  const current = (): Promise<string> => {
    asked.resolve();
    return epoch.promise;
  };
  const span = { trace: {}, begin: never, share: never, end: (_: unknown, code?: string) => void codes.push(code) };
  const { gateway } = await startLive({
    epochs: { current, renew: never, purge: never },
    tracing: { begin: () => span },
  });
  const socket = openWith(gateway.url, postOf(follow, 'accept: text/event-stream\r\n'));
  await asked.promise;
  socket.destroy();
  await once(socket, 'close');
  // When the gateway answers this request, it has noticed that the client has left.
  expect(await metricsOf(gateway)).toMatch(/^gateway_operations_in_flight 1$/m);
  epoch.resolve('epoch');
  await expect.poll(() => metricsOf(gateway)).toMatch(/^gateway_operations_in_flight 0$/m);
  expect(codes).toEqual(['CLIENT_LEFT']);
});
