import { expect, test } from 'vitest';
import { type Epochs, LocalEpochs } from '../../src/rest/cache/epochs.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Upstream } from '../../src/rest/upstream.ts';
import { begin, callerWith, codeOf, connectCached, readName } from '../support/cached-clients.ts';
import { refusal, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const caller = callerWith('phx_test');
const one = '/api/projects/1/';
const two = '/api/projects/2/';

/** What a read of a new operation comes to: the name of the project, or the code of the failure. */
async function read(upstream: Upstream, target: string): Promise<unknown> {
  return readName(await begin(upstream, caller), target);
}

test('a thousand simultaneous misses of one page are one call', async () => {
  await using api = await startUpstream({ [`GET ${one}`]: project(1) }, { hold: 1000 });
  const upstream = connectCached(api.url);
  const reads = Array.from({ length: 1000 }, () => read(upstream, one));
  await expect.poll(() => api.requests).toHaveLength(1);
  api.release();
  expect(new Set(await Promise.all(reads))).toEqual(new Set(['Project 1']));
  expect(await read(upstream, one)).toBe('Project 1');
  expect(api.requests).toEqual([`GET ${one}`]);
  await upstream.close();
});

test('a 401 ends the use of all that the key has read', async () => {
  await using api = await startUpstream({
    [`GET ${one}`]: project(1),
    [`GET ${two}`]: refusal(401, 'authentication_failed', 'Invalid key.'),
  });
  const upstream = connectCached(api.url);
  expect([await read(upstream, one), await read(upstream, one)]).toEqual(['Project 1', 'Project 1']);
  expect(await read(upstream, two)).toBe('UNAUTHENTICATED');
  expect(await read(upstream, one)).toBe('Project 1');
  expect(api.requests).toEqual([`GET ${one}`, `GET ${two}`, `GET ${one}`]);
  await upstream.close();
});

test('a write that was never sent empties nothing, one that was sent and lost does', async () => {
  let isLost = true;
  await using api = await startUpstream({
    [`GET ${one}`]: project(1),
    [`PATCH ${one}`]: () => (isLost ? reply({ status: 502, body: {} }) : project(1)),
  });
  const upstream = connectCached(api.url);
  const write = async (): Promise<unknown> =>
    (await begin(upstream, caller)).write(operations.updateProject, one, {}).catch(codeOf);
  await read(upstream, one);
  expect(await write()).toBe('UPSTREAM_UNAVAILABLE');
  await read(upstream, one);
  expect(api.requests).toEqual([`GET ${one}`, `PATCH ${one}`, `GET ${one}`]);
  isLost = false;
  await api[Symbol.asyncDispose]();
  expect(await write()).toBe('UPSTREAM_UNAVAILABLE');
  expect(await read(upstream, one)).toBe('Project 1');
  await upstream.close();
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
  await upstream.close();
});

test('ten thousand invented keys drive out nothing of what a key has read', async () => {
  await using api = await startUpstream({ [`GET ${one}`]: project(1) });
  const upstream = connectCached(api.url);
  await read(upstream, one);
  for (let index = 0; index < 10_001; index += 1) await upstream.cache?.open(callerWith(`invented ${index}`), 'normal');
  expect(await read(upstream, one)).toBe('Project 1');
  expect(api.requests).toEqual([`GET ${one}`]);
  await upstream.close();
});

test('writes that find no connection at the same time empty nothing', async () => {
  const api = await startUpstream({ [`GET ${one}`]: project(1) });
  const upstream = connectCached(api.url);
  await read(upstream, one);
  await api[Symbol.asyncDispose]();
  const writers = [await begin(upstream, caller), await begin(upstream, caller), await begin(upstream, caller)];
  const written = writers.map((writer) => writer.write(operations.updateProject, one, {}).catch(codeOf));
  expect(new Set(await Promise.all(written))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
  expect(await read(upstream, one)).toBe('Project 1');
  await upstream.close();
});

test.each([
  ['as they began', ['first', 'second']],
  ['the other way round', ['second', 'first']],
] as const)('renewals that are undone %s lead back to before them', (_how, order) => {
  const epochs = new LocalEpochs();
  const before = epochs.current('key');
  const renewed = { first: epochs.renew('key'), second: epochs.renew('key') };
  for (const which of order) epochs.undo('key', renewed[which]);
  expect(epochs.current('key')).toBe(before);
});

test('a renewal that is undone leaves one that is not', () => {
  const epochs = new LocalEpochs();
  epochs.current('key');
  const first = epochs.renew('key');
  const second = epochs.renew('key');
  epochs.undo('key', first);
  expect(epochs.current('key')).toBe(second);
  const third = epochs.renew('key');
  epochs.undo('key', third);
  expect(epochs.current('key')).toBe(second);
});

test('a write that is given up while its epoch is being made is not sent, and empties nothing', async () => {
  await using api = await startUpstream({ [`GET ${one}`]: project(1) });
  const local = new LocalEpochs();
  const made = Promise.withResolvers<void>();
  const epochs: Epochs = {
    current: (key) => local.current(key),
    prove: (key) => local.prove(key),
    refuse: (key) => local.refuse(key),
    renew: async (key) => {
      const epoch = local.renew(key);
      await made.promise;
      return epoch;
    },
    undo: (key, renewed) => local.undo(key, renewed),
  };
  const upstream = connectCached(api.url, { epochs });
  await read(upstream, one);
  const writer = await begin(upstream, caller);
  const before = local.current(caller.sharingKey);
  const written = writer.write(operations.updateProject, one, {}).catch(codeOf);
  await expect.poll(() => local.current(caller.sharingKey)).not.toBe(before);
  writer.deadline.end('deadline');
  made.resolve();
  expect(await written).toBe('UPSTREAM_TIMEOUT');
  expect(await read(upstream, one)).toBe('Project 1');
  expect(api.requests).toEqual([`GET ${one}`]);
  await upstream.close();
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
  await upstream.close();
});
