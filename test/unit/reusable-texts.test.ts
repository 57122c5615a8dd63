import { expect, test } from 'vitest';
import type { OperationCache } from '../../src/rest/cache/operation-cache.ts';
import { RestCache } from '../../src/rest/cache/rest-cache.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { cacheSettings } from '../support/cache.ts';
import { callerWith } from '../support/cached-clients.ts';

const target = '/api/projects/1/';
const caller = callerWith('phx_test');

function startCache(maxBytes: number = cacheSettings.maxBytes) {
  let now = 0;
  const cache = new RestCache({ ...cacheSettings, maxBytes, refreshMs: 1000, now: () => now });
  return { cache, pass: (seconds: number) => void (now += seconds * 1000) };
}

async function open(cache: RestCache): Promise<OperationCache> {
  return cache.open(caller, 'normal');
}

/** Keeps an answer of the upstream, as a read does. */
function read(cache: OperationCache, of: string, text = '{"name":"One"}'): void {
  const decode = (): unknown => JSON.parse(text);
  cache.keeping(
    { kind: 'json', decode },
    operations.getProject,
    of,
  )({
    ...{ status: 200, contentType: 'application/json', cacheControl: '' },
    text,
  });
}

/** Keeps what an operation makes that is given this answer. */
async function keep(cache: RestCache, of = target): Promise<void> {
  const operation = await open(cache);
  expect(await operation.find(operations.getProject, 'json', of)).toBeDefined();
  expect(operation.isReusable).toBe(true);
  operation.keepText('query', '{"data":1}');
}

test('what was made of an answer is given for as long as the very same answer is in the cache and fresh', async () => {
  const { cache, pass } = startCache();
  read(await open(cache), target);
  await keep(cache);
  expect((await open(cache)).reuse('query')).toMatchObject({ text: '{"data":1}', bytes: 10 });
  expect((await open(cache)).reuse('other')).toBeUndefined();
  pass(59);
  const late = await open(cache);
  expect([late.reuse('query') !== undefined, late.freshMs]).toEqual([true, 1000]);
  pass(1);
  expect((await open(cache)).reuse('query')).toBeUndefined();
  expect(cache.texts.bytes).toBe(0);
});

test('an equal answer that was read anew ends the use of what was made of the one before', async () => {
  const { cache } = startCache();
  read(await open(cache), target);
  await keep(cache);
  read(await open(cache), target);
  expect((await open(cache)).reuse('query')).toBeUndefined();
});

test('an answer that has made room for others ends the use of what was made of it', async () => {
  const { cache } = startCache(2 ** 20);
  read(await open(cache), target);
  await keep(cache);
  const text = JSON.stringify({ name: 'x'.repeat(10_000) });
  for (let id = 2; id < 200; id += 1) read(await open(cache), `/api/projects/${id}/`, text);
  expect(cache.texts.bytes).toBeGreaterThan(0);
  expect((await open(cache)).reuse('query')).toBeUndefined();
});

test('an answer that things are made of again and again stays in the cache as if it was read', async () => {
  const { cache } = startCache(2 ** 20);
  read(await open(cache), target);
  await keep(cache);
  const text = JSON.stringify({ name: 'x'.repeat(10_000) });
  for (let id = 2; id < 200; id += 1) {
    read(await open(cache), `/api/projects/${id}/`, text);
    expect((await open(cache)).reuse('query')).toBeDefined();
  }
});

test('what an operation makes is not reusable once it calls, or is given what is too old', async () => {
  const { cache, pass } = startCache();
  read(await open(cache), target);
  const [calling, late, idle] = [await open(cache), await open(cache), await open(cache)];
  await calling.find(operations.getProject, 'json', target);
  calling.noteCall();
  pass(60);
  await late.find(operations.getProject, 'json', target);
  expect([calling, late, idle].map(({ isReusable }) => isReusable)).toEqual([false, false, false]);
});

test('texts are bounded: the one asked for the longest ago makes room, and none may take most of it', async () => {
  const { cache } = startCache(8 * 80_000);
  read(await open(cache), target);
  const text = 'x'.repeat(4000);
  const keepAs = async (name: string, kept: string): Promise<void> => {
    const operation = await open(cache);
    await operation.find(operations.getProject, 'json', target);
    operation.keepText(name, kept);
  };
  await keepAs('large', text.repeat(2));
  for (let index = 0; index < 20; index += 1) {
    await keepAs(`text ${index}`, text);
    expect((await open(cache)).reuse('text 0')).toBeDefined();
    expect(cache.texts.bytes).toBeLessThanOrEqual(80_000);
  }
  expect(cache.texts.bytes).toBeGreaterThan(60_000);
  const operation = await open(cache);
  const found = ['large', 'text 0', 'text 1', 'text 19'].map((name) => operation.reuse(name) !== undefined);
  expect(found).toEqual([false, true, false, true]);
});
