import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { startBoth } from '../support/both.ts';
import { textAt } from '../support/connections.ts';
import { type Answer } from '../support/gateway.ts';
import { codesOf } from '../support/outcomes.ts';
import { apiError, disconnect, hang, raw, reply } from '../support/replies.ts';
import { listedDashboard, listedProject, project } from '../support/rows.ts';
import { type Upstream } from '../support/upstream.ts';

const one = '{ project(id: 1) { name } }';
const read = 'GET /api/projects/1/';
const named = { project: { name: 'Project 1' } };
const mutation = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }';
const csv = '{ project(id: 1) { eventsCsv { csv } } }';
const csvRead = 'GET /api/projects/1/events/?limit=50&format=csv';

async function received(upstream: Upstream, count: number): Promise<void> {
  await expect.poll(() => upstream.requests, { interval: 2 }).toHaveLength(count);
}

/** Deadlines that end no call of a test before it does. */
const patient = { operationDeadlineMs: 60_000 };

/** Long enough for a request that should not be there to arrive. */
const aMoment = 60;

const routes = {
  'GET /api/projects/1/': project(1),
  'GET /api/projects/2/': project(2),
  'PATCH /api/projects/1/': project(1),
  'GET /api/projects/1/events/': reply({ headers: { 'content-type': 'text/csv' }, body: 'id\n' }),
};

/** Starts a gateway over an upstream that holds its answers back until `upstream.release()`. */
function startHolding(options: Partial<GatewayOptions> = {}): ReturnType<typeof startBoth> {
  return startBoth(routes, options, { hold: 1000 });
}

/** Asks and leaves later: the answer, or undefined for who left. */
function asking(ask: (signal: AbortSignal) => Promise<Answer>) {
  const controller = new AbortController();
  const answer = ask(controller.signal).catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return { leave: () => controller.abort(), answer };
}

describe('single flight', () => {
  test('makes equal reads of one key, whichever operation they are in, one call', async () => {
    const { upstream, gateway } = await startHolding();
    const queries = [
      one,
      one,
      '{ again: project(id: "1") { timezone } }',
      'query Q($id: ID!) { project(id: $id) { name } }',
    ];
    const answers = queries.map((query) => gateway.ask(query, { variables: { id: '1' } }));
    const tables = [gateway.ask(csv), gateway.ask(csv)];
    const other = gateway.ask('{ project(id: 2) { name } }');
    await received(upstream, 3);
    await delay(aMoment);
    expect(upstream.requests.toSorted()).toEqual([read, csvRead, 'GET /api/projects/2/'].toSorted());
    upstream.release();
    expect((await Promise.all(answers)).map(({ data }) => data as unknown)).toEqual([
      named,
      named,
      { again: { timezone: 'Europe/Berlin' } },
      named,
    ]);
    expect((await Promise.all(tables)).map(({ data }) => data as unknown)).toEqual(
      tables.map(() => ({ project: { eventsCsv: { csv: 'id\n' } } })),
    );
    expect((await other).data).toEqual({ project: { name: 'Project 2' } });
    // Nothing is kept: the next one is a call of its own.
    expect((await gateway.ask(one)).data).toEqual(named);
    expect(upstream.requests).toHaveLength(4);
  });

  test('is never across keys, not even those that differ in one character or its case', async () => {
    const keys = ['phx_a', 'phx_A', 'phx_', 'phx_aa', 'phx_a=', 'phx_b', 'a'];
    // Each caller is told which user it is.
    const { upstream, gateway } = await startBoth(
      ({ headers }) => project(1, { name: headers.authorization ?? '' }),
      {},
      { hold: keys.length },
    );
    for (const query of [one, '{ projects(first: 1) { nodes { name } } project(id: 1) { name } }']) {
      upstream.reset();
      upstream.release();
      const answers = await Promise.all(
        keys.map((key) => gateway.ask(query, { headers: { authorization: `Bearer ${key}` } })),
      );
      expect(answers.map(({ data }) => textAt(data, 'project', 'name'))).toEqual(keys.map((key) => `Bearer ${key}`));
    }
    expect(upstream.records.length).toBeGreaterThanOrEqual(keys.length);
  });

  test('shares the failure, too, and its retry', async () => {
    let calls = 0;
    const { upstream, gateway } = await startBoth({ [read]: () => ((calls += 1) <= 2 ? disconnect : project(1)) });
    const answers = await Promise.all([gateway.ask(one), gateway.ask(one), gateway.ask(one)]);
    expect(answers.flatMap(codesOf)).toEqual(Array(3).fill('project UPSTREAM_UNAVAILABLE'));
    expect(upstream.requests).toEqual([read, read]);
    expect((await gateway.ask(one)).data).toEqual(named);
  });

  test('goes on for the others when one leaves, the first one too', async () => {
    for (const leaver of [0, 1, 2]) {
      const { upstream, gateway } = await startHolding();
      const callers = [0, 1, 2].map(() => asking((signal) => gateway.ask(one, { signal })));
      await received(upstream, 1);
      await delay(aMoment);
      callers[leaver]?.leave();
      await delay(aMoment);
      expect(upstream.records.map(({ cancelled }) => cancelled)).toEqual([false]);
      upstream.release();
      const answers = await Promise.all(callers.map(({ answer }) => answer));
      expect(answers.map((answer) => answer?.data as unknown)).toEqual(
        [0, 1, 2].map((caller) => (caller === leaver ? undefined : named)),
      );
      expect(upstream.requests).toEqual([read]);
    }
  });

  test('is cancelled when the last one leaves, and the next one gets a call of its own', async () => {
    let calls = 0;
    const { upstream, gateway } = await startBoth({ [read]: () => ((calls += 1) === 2 ? hang : project(1)) }, patient);
    await gateway.ask(one);
    const callers = [0, 1].map(() => asking((signal) => gateway.ask(one, { signal })));
    await received(upstream, 2);
    await delay(aMoment);
    for (const caller of callers) caller.leave();
    await expect.poll(() => upstream.records[1]?.cancelled).toBe(true);
    expect((await gateway.ask(one)).data).toEqual(named);
    expect(upstream.requests).toHaveLength(3);
  });

  test('does not outlive the deadline of one waiter for that one, and does for the others', async () => {
    const { upstream, gateway } = await startHolding({ operationDeadlineMs: 2000 });
    const impatient = gateway.ask(one);
    await received(upstream, 1);
    await delay(600);
    const other = gateway.ask(one);
    expect(codesOf(await impatient)).toEqual(['project UPSTREAM_TIMEOUT']);
    upstream.release();
    expect((await other).data).toEqual(named);
    expect(upstream.requests).toEqual([read]);
  });

  test('lets no operation join a call that has not answered for more than a second', async () => {
    const { upstream, gateway } = await startHolding();
    const first = gateway.ask(one);
    await received(upstream, 1);
    await delay(1100);
    const second = gateway.ask(one);
    await received(upstream, 2);
    upstream.release();
    expect([(await first).data, (await second).data]).toEqual([named, named]);
  });

  test('ends with a write of the same key: what is asked after it, or beside it, reads anew', async () => {
    const { upstream, gateway } = await startHolding();
    const before = gateway.ask(one);
    await received(upstream, 1);
    const strangers = gateway.ask(one, { headers: { authorization: 'Bearer phx_other' } });
    await received(upstream, 2);
    const written = gateway.ask(mutation);
    await received(upstream, 3);
    const beside = gateway.ask(one);
    await received(upstream, 4);
    // Another key goes on sharing.
    const strangersToo = gateway.ask(one, { headers: { authorization: 'Bearer phx_other' } });
    await delay(aMoment);
    expect(upstream.requests).toEqual([read, read, 'PATCH /api/projects/1/', read]);
    upstream.release();
    const answers = await Promise.all([before, strangers, beside, strangersToo]);
    expect(answers.map(({ data }) => data as unknown)).toEqual([named, named, named, named]);
    expect((await written).errors).toBeUndefined();
  });

  test('that began beside a write is not joined after it', async () => {
    let name = 'Old';
    const { promise: mayAnswer, resolve: answerWrite } = Promise.withResolvers<void>();
    const { upstream, gateway } = await startBoth(
      {
        [read]: () => project(1, { name }),
        'PATCH /api/projects/1/': async () => {
          await mayAnswer;
          return project(1, { name });
        },
        'GET /api/projects/2/': hang,
      },
      { operationDeadlineMs: 1500 },
    );
    const written = gateway.ask(mutation);
    await received(upstream, 1);
    const beside = gateway.ask('{ project(id: 2) { name } }');
    await received(upstream, 2);
    name = 'New';
    answerWrite();
    await written;
    const after = gateway.ask('{ project(id: 2) { name } }');
    await received(upstream, 3);
    expect((await gateway.ask(one)).data).toEqual({ project: { name: 'New' } });
    await Promise.all([beside, after]);
  });
});

describe('a client that leaves', () => {
  test('cancels all of its calls, and no further wave starts', async () => {
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/': { count: 3, next: null, results: [1, 2, 3].map((id) => listedProject(id)) },
        'GET /api/projects/:id/dashboards/': hang,
        'GET /api/projects/1/': hang,
      },
      patient,
    );
    const query = `{ project(id: 1) { name primaryDashboard { name } }
      projects(first: 3) { nodes { dashboards(first: 2) { nodes { name tiles } } } } }`;
    const caller = asking((signal) => gateway.ask(query, { signal }));
    await received(upstream, 5);
    caller.leave();
    await expect.poll(() => upstream.records.every(({ endedAt }) => endedAt !== Infinity)).toBe(true);
    expect(upstream.records.filter(({ cancelled }) => cancelled)).toHaveLength(4);
    await delay(aMoment);
    expect(upstream.requests).toHaveLength(5);
    expect(await caller.answer).toBeUndefined();
    expect(gateway.reported).toEqual([]);
  });

  test('while a call waits for its retry has it not sent', async () => {
    const { upstream, gateway } = await startBoth(() =>
      reply({ status: 429, headers: { 'retry-after': '1' }, body: apiError('throttled') }),
    );
    const caller = asking((signal) => gateway.ask(one, { signal }));
    await received(upstream, 1);
    await delay(aMoment);
    caller.leave();
    await delay(1500);
    expect(upstream.requests).toEqual([read]);
  });

  test('has its mutation sent once, and nothing after it', async () => {
    const { upstream, gateway } = await startBoth({ [read]: project(1), 'PATCH /api/projects/1/': hang }, patient);
    await gateway.ask(one);
    const twice = `mutation { a: updateProject(input: { id: 1, name: "A" }) { project { name } }
      b: updateProject(input: { id: 1, name: "B" }) { project { name } } }`;
    const caller = asking((signal) => gateway.ask(twice, { signal }));
    await received(upstream, 2);
    caller.leave();
    await expect.poll(() => upstream.records[1]?.cancelled).toBe(true);
    await delay(aMoment);
    expect(upstream.records.slice(1).map(({ method, body }) => `${method} ${body}`)).toEqual(['PATCH {"name":"A"}']);
    expect((await gateway.ask(one)).data).toEqual(named);
  });
});

describe('a kept-alive socket that the upstream has closed', () => {
  /** Answers the first request of each connection, and closes it without a byte at the second. */
  function startClosing() {
    const used = new WeakSet<Socket>();
    const answers = [project(1), listedDashboard(1)];
    return startBoth(
      ({ method }) =>
        raw((response) => {
          const { socket } = response;
          if (socket === null || used.has(socket)) {
            socket?.destroy();
            return;
          }
          used.add(socket);
          response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[method === 'GET' ? 0 : 1]));
        }),
      {},
      // Hundreds of reads come one after the other.
      { hold: 1 },
    );
  }

  test('loses none of 200 reads, one after the other', async () => {
    const { upstream, gateway } = await startClosing();
    for (let asked = 0; asked < 200; asked += 1) expect((await gateway.ask(one)).data).toEqual(named);
    // Every second one finds its socket closed, and goes again on one that is used for nothing else.
    expect(upstream.requests.length).toBeGreaterThan(250);
    expect(upstream.records.filter(({ headers }) => headers.connection === 'close').length).toBeGreaterThan(50);
  });

  test('loses none of 200 reads, ten at a time', async () => {
    const { gateway } = await startClosing();
    for (let round = 0; round < 20; round += 1) {
      const keys = Array.from({ length: 10 }, (_, index) => `phx_${index}`);
      const asked = keys.map((key) => gateway.ask(one, { headers: { authorization: `Bearer ${key}` } }));
      expect((await Promise.all(asked)).map(({ data }) => data as unknown)).toEqual(keys.map(() => named));
    }
  });

  test('loses no write, and has none sent twice', async () => {
    const { upstream, gateway } = await startClosing();
    expect((await gateway.ask(mutation)).errors).toBeUndefined();
    upstream.reset();
    expect((await gateway.ask(mutation)).errors).toBeUndefined();
    expect(upstream.requests).toEqual(['PATCH /api/projects/1/']);
  });
});
