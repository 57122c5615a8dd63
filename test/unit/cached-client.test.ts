import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { RedisAnswers } from '../../src/rest/cache/redis-answers.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { LocalEpochs, type Reuse } from '../../src/rest/read-your-writes.ts';
import type { Upstream } from '../../src/rest/upstream.ts';
import { begin, callerWith, codeOf, connectCached, readName } from '../support/cached-clients.ts';
import { connectTo } from '../support/redis.ts';
import { type JsonObject, refusal, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const caller = callerWith('phx_test');
const one = '/api/projects/1/';
const two = '/api/projects/2/';

/** The outcome of a new operation's read: the name of the project, or the code of the failure. */
async function read(upstream: Upstream, target: string): Promise<unknown> {
  return readName(await begin(upstream, caller), target);
}

test('a 401 ends the use of all that the key has read', async () => {
  await using api = await startUpstream({
    [`GET ${one}`]: project(1),
    [`GET ${two}`]: refusal(401, 'authentication_failed', 'Invalid key.'),
  });
  const upstream = connectCached(api.url);
  expect([await read(upstream, one), await read(upstream, one)]).toEqual(['Project 1', 'Project 1']);
  expect(await read(upstream, two)).toBe('UNAUTHENTICATED');
  // The key is not asked with for some seconds, and what it has read is not given either.
  expect(await read(upstream, one)).toBe('UNAUTHENTICATED');
  expect(api.requests).toEqual([`GET ${one}`, `GET ${two}`]);
  upstream.close();
});

test.each([
  ['403', refusal(403, 'permission_denied', 'Not yours.')],
  ['404', refusal(404, 'not_found', 'Not found.')],
  ['no-store', reply({ body: project(1), headers: { 'cache-control': 'no-store' } })],
])('a %s for what was kept ends its use at all workers', async (_what, answer) => {
  let isGone = false;
  await using api = await startUpstream({ [`GET ${one}`]: () => (isGone ? answer : project(1)) });
  const epochs: [LocalEpochs, LocalEpochs] = [
    new LocalEpochs((change) => {
      epochs[1].adopt(change);
      return Promise.resolve(true);
    }),
    new LocalEpochs((change) => {
      epochs[0].adopt(change);
      return Promise.resolve(true);
    }),
  ];
  // The workers know of no epoch before one of them has made it.
  await epochs[0].renew(caller.sharingKey);
  const workers = epochs.map((own) => connectCached(api.url, { epochs: own }));
  const readAll = (): Promise<readonly unknown[]> => Promise.all(workers.map((worker) => read(worker, one)));
  for (const _ of [1, 2]) expect(await readAll()).toEqual(['Project 1', 'Project 1']);
  expect(api.requests).toHaveLength(2);
  isGone = true;
  const [first] = workers;
  if (first === undefined) throw new Error('expected two workers');
  await readName(await begin(first, caller, 'reload'), one);
  expect(api.requests).toHaveLength(3);
  await readAll();
  expect(api.requests).toHaveLength(5);
  for (const worker of workers) worker.close();
});

test.each([
  ['403', refusal(403, 'permission_denied', 'Not yours.')],
  ['no-store', reply({ body: project(1), headers: { 'cache-control': 'no-store' } })],
])('a %s is told to all that wait for the read once no other worker gives what was kept', async (_what, answer) => {
  let isKept = true;
  await using api = await startUpstream({ [`GET ${one}`]: () => (isKept ? project(1) : answer) }, { hold: 2 });
  const { promise: adopted, resolve: adopt } = Promise.withResolvers<true>();
  const upstream = connectCached(api.url, { epochs: new LocalEpochs(() => adopted) });
  const first = read(upstream, one);
  await expect.poll(() => api.requests).toHaveLength(1);
  api.release();
  await first;
  isKept = false;
  let told = 0;
  const readers = [await begin(upstream, caller, 'reload'), await begin(upstream, caller, 'reload')];
  const reads = readers.map((reader) => readName(reader, one).finally(() => (told += 1)));
  await expect.poll(() => api.requests).toHaveLength(2);
  api.release();
  await delay(50);
  expect(told).toBe(0);
  adopt(true);
  await Promise.all(reads);
  expect(api.requests).toHaveLength(2);
  upstream.close();
});

test('the other reads of an operation fail with its 401 once no other worker gives what was kept', async () => {
  await using api = await startUpstream({
    [`GET ${one}`]: refusal(401, 'authentication_failed', 'Invalid key.'),
    [`GET ${two}`]: () => new Promise(() => undefined),
  });
  const { promise: adopted, resolve: adopt } = Promise.withResolvers<true>();
  const upstream = connectCached(api.url, { epochs: new LocalEpochs(() => adopted) });
  const reader = await begin(upstream, caller);
  let told = 0;
  const reads = [two, one].map((target) => readName(reader, target).finally(() => (told += 1)));
  await expect.poll(() => api.requests).toHaveLength(2);
  await delay(50);
  expect(told).toBe(0);
  adopt(true);
  expect(await Promise.all(reads)).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
  upstream.close();
});

test('a write ends the use of what was read before it, though it was lost or found no connection', async () => {
  await using api = await startUpstream({
    [`GET ${one}`]: project(1),
    [`PATCH ${one}`]: reply({ status: 502, body: {} }),
  });
  const upstream = connectCached(api.url);
  const write = async (): Promise<unknown> =>
    (await begin(upstream, caller)).write(operations.updateProject, one, {}).catch(codeOf);
  await read(upstream, one);
  expect(await write()).toBe('UPSTREAM_UNAVAILABLE');
  await read(upstream, one);
  expect(api.requests).toEqual([`GET ${one}`, `PATCH ${one}`, `GET ${one}`]);
  await api[Symbol.asyncDispose]();
  expect(await write()).toBe('UPSTREAM_UNAVAILABLE');
  expect(await read(upstream, one)).toBe('UPSTREAM_UNAVAILABLE');
  upstream.close();
});

test('a write that a proxy has given up may arrive after that: it is read then', async () => {
  let name = 'Old';
  await using api = await startUpstream({
    [`GET ${one}`]: () => project(1, { name }),
    [`PATCH ${one}`]: reply({ status: 504, body: '<html>' }),
  });
  const upstream = connectCached(api.url, { refreshMs: 50 });
  await (await begin(upstream, caller)).write(operations.updateProject, one, {}).catch(codeOf);
  expect(await read(upstream, one)).toBe('Old');
  name = 'New';
  await expect.poll(() => read(upstream, one)).toBe('New');
  upstream.close();
});

test('ten thousand invented keys drive out nothing of what a key has read', async () => {
  await using api = await startUpstream({ [`GET ${one}`]: project(1) });
  const upstream = connectCached(api.url);
  await read(upstream, one);
  for (let index = 0; index < 10_001; index += 1) await upstream.epochOf(callerWith(`invented ${index}`), 'normal');
  expect(await read(upstream, one)).toBe('Project 1');
  expect(api.requests).toEqual([`GET ${one}`]);
  upstream.close();
});

test('an operation reads its own writes, and others that began before them go on with what was then', async () => {
  let name = 'Old';
  await using api = await startUpstream({
    [`GET ${one}`]: () => project(1, { name }),
    [`PATCH ${one}`]: () => {
      name = 'New';
      return project(1, { name });
    },
  });
  const upstream = connectCached(api.url);
  const [writer, other] = [await begin(upstream, caller), await begin(upstream, caller)];
  expect(await readName(writer, one)).toBe('Old');
  await writer.write(operations.updateProject, one, {});
  expect([await readName(writer, one), await readName(other, one), await read(upstream, one)]).toEqual([
    'New',
    'Old',
    'New',
  ]);
  upstream.close();
});

/** A store in Redis whose look-ups of answers end when a test says so. */
function createSlowStore(url: string): {
  readonly remote: RedisAnswers;
  readonly finds: (row: object, limit?: number) => void;
} {
  const remote = new RedisAnswers(connectTo(), url);
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<RedisAnswers['find']>>>();
  vi.spyOn(remote, 'find').mockReturnValueOnce(promise).mockResolvedValue(undefined);
  return { remote, finds: (row, limit) => resolve({ text: JSON.stringify(row), limit, ageMs: 1000 }) };
}

test('what was read anew while Redis was asked is not replaced by what Redis has', async () => {
  await using api = await startUpstream({ [`GET ${one}`]: project(1, { name: 'New' }) });
  const { remote, finds } = createSlowStore(api.url);
  const upstream = connectCached(api.url, { remote });
  const early = read(upstream, one);
  expect(await readName(await begin(upstream, caller, 'reload'), one)).toBe('New');
  finds(project(1, { name: 'Old' }));
  expect([await early, await read(upstream, one)]).toEqual(['New', 'New']);
  expect(api.requests).toEqual([`GET ${one}`]);
  upstream.close();
});

const pageOf = (limit: number): string => `/api/projects/?limit=${limit}`;

function rows(name: string): JsonObject {
  return { count: 2, next: null, results: [project(1, { name }), project(2, { name })] };
}

/** Reads a page of two projects; all of them have the same name. */
async function readPage(upstream: Upstream, limit: number, reuse?: Reuse): Promise<unknown> {
  return (await begin(upstream, caller, reuse)).read(operations.listProjects, pageOf(limit));
}

test('a page that was read anew while Redis was asked is not replaced by an older one with more rows', async () => {
  await using api = await startUpstream({ 'GET /api/projects/': rows('New') });
  const { remote, finds } = createSlowStore(api.url);
  const upstream = connectCached(api.url, { remote });
  const early = readPage(upstream, 2);
  await readPage(upstream, 1, 'reload');
  finds(rows('Old'), 2);
  expect([await early, await readPage(upstream, 2)]).toEqual([rows('New'), rows('New')]);
  expect(api.requests).toEqual([`GET ${pageOf(1)}`, `GET ${pageOf(2)}`]);
  upstream.close();
});

test('an answer whose read began before that of the kept one does not replace it, here or in Redis', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  await using api = await startUpstream({
    'GET /api/projects/': async ({ query }) => {
      if (query.get('limit') === '1') return rows('New');
      await mayAnswer;
      return rows('Old');
    },
  });
  api.release();
  const { remote } = createSlowStore(api.url);
  const kept = vi.spyOn(remote, 'keep');
  const upstream = connectCached(api.url, { remote });
  const early = readPage(upstream, 2, 'reload');
  await expect.poll(() => api.requests).toHaveLength(1);
  await readPage(upstream, 1, 'reload');
  answer();
  expect([await early, await readPage(upstream, 1)]).toEqual([rows('Old'), rows('New')]);
  expect([api.requests, kept.mock.calls.length]).toEqual([[`GET ${pageOf(2)}`, `GET ${pageOf(1)}`], 1]);
  upstream.close();
});

test('the answer to a repeated read replaces what was kept before it was sent again', async () => {
  let isRepeated = false;
  await using api = await startUpstream({
    'GET /api/projects/': ({ query }) => {
      if (query.get('limit') === '1') return rows('Old');
      if (isRepeated) return rows('New');
      isRepeated = true;
      return reply({ status: 503, body: {} });
    },
  });
  api.release();
  const upstream = connectCached(api.url);
  const early = readPage(upstream, 2, 'reload');
  await expect.poll(() => isRepeated).toBe(true);
  await readPage(upstream, 1);
  expect([await early, await readPage(upstream, 1)]).toEqual([rows('New'), rows('New')]);
  expect(api.requests).toEqual([`GET ${pageOf(2)}`, `GET ${pageOf(1)}`, `GET ${pageOf(2)}`]);
  upstream.close();
});
