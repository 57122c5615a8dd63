import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';

/** The function that GraphiQL runs operations with. */
type Fetcher = (params: { readonly query: string }, options?: object) => Promise<unknown>;

/** A run as the panel hears of it. */
type Shown = Readonly<Record<string, unknown>>;

/** The fetcher that the panel makes of another, what that was asked, and what the panel hears of runs. */
function traced(fetcher: () => unknown, isOpen = true) {
  const asked: unknown[] = [];
  const shown: Shown[] = [];
  const original: Fetcher = async (...request) => {
    asked.push(request);
    return fetcher();
  };
  const globals: { fetcher?: Fetcher } & Record<string, unknown> = {
    ...{ performance, original },
    begin: () => (isOpen ? (run: Shown) => shown.push(run) : undefined),
  };
  runPanelScripts(['runs'], 'fetcher = tracing(original, begin); same = tracing(original, begin)', globals);
  const { fetcher: run, same } = globals;
  if (run === undefined) throw new Error('expected a fetcher');
  expect(same).toBe(run);
  return { run, asked, shown };
}

const calls = [{ path: '/api/projects/1/', status: 200 }];
const query = '{ project(id: 1) { name } }';

test('a run asks for its trace in the one request that there is, and its answer loses what that adds', async () => {
  const extensions = { explain: { calls }, cost: { actual: 1 }, other: 1 };
  const { run, asked, shown } = traced(() => ({ data: { a: 1 }, extensions }));
  expect(await run({ query }, { headers: { a: 'b' } })).toEqual({ data: { a: 1 }, extensions: { other: 1 } });
  expect(asked).toEqual([[{ query }, { headers: { a: 'b', explain: 'trace' } }]]);
  expect(shown.at(-1)).toMatchObject({ isRunning: false, calls, cost: { actual: 1 } });
});

test.each([
  ['the panel is closed', query, {}, false],
  ['the schema is read', '{ __schema { types { name } } }', {}, true],
  ['the tab has a header of its own', query, { headers: { explain: 'plan' } }, true],
])('nothing is added if %s', async (_when, text, options, isOpen) => {
  const answer = { data: null, extensions: { explain: { upper: 1 } } };
  const { run, asked, shown } = traced(() => answer, isOpen);
  expect(await run({ query: text }, options)).toBe(answer);
  expect(asked).toEqual([[{ query: text }, options]]);
  expect(shown).toEqual([]);
});

test('a run that fails is over, and fails for GraphiQL too', async () => {
  const failure = new Error('no connection');
  const { run, shown } = traced(() => Promise.reject(failure));
  await expect(run({ query })).rejects.toBe(failure);
  expect(shown.at(-1)).toMatchObject({ isRunning: false });
});

test('an answer in parts says when the first one came, and has its calls with the last', async () => {
  const parts = [{ data: { a: 1 } }, { data: { a: 1, b: 2 }, extensions: { explain: { calls } } }];
  const { run, shown } = traced(async function* () {
    yield* parts;
  });
  const told: unknown[] = [];
  for await (const part of iterableOf(await run({ query }))) told.push(part);
  expect(told).toEqual([{ data: { a: 1 } }, { data: { a: 1, b: 2 } }]);
  expect(shown.at(-1)).toMatchObject({
    isRunning: false,
    messages: 1,
    calls,
    firstPartMs: expect.any(Number) as unknown,
  });
});

test('a stream that breaks off is over, and breaks off for GraphiQL too', async () => {
  const failure = new TypeError('network error');
  const { run, shown } = traced(async function* () {
    yield { data: { a: 1 } };
    throw failure;
  });
  const messages = iterableOf(await run({ query: 'subscription { a }' }))[Symbol.asyncIterator]();
  expect(await messages.next()).toMatchObject({ value: { data: { a: 1 } } });
  expect(shown.at(-1)).toMatchObject({ isRunning: true });
  await expect(messages.next()).rejects.toBe(failure);
  expect(shown.at(-1)).toMatchObject({ isRunning: false, milliseconds: expect.any(Number) as unknown });
});

test('to stop a subscription stops it at once, although no message comes', async () => {
  const returned: unknown[] = [];
  const silent: AsyncIterableIterator<unknown> = {
    [Symbol.asyncIterator]: () => silent,
    next: () => new Promise(() => undefined),
    return: async (value?: unknown) => {
      returned.push(value);
      return { value, done: true };
    },
  };
  const { run, shown } = traced(() => silent);
  const iterator = iterableOf(await run({ query: 'subscription { eventsAdded { cursor } }' }))[Symbol.asyncIterator]();
  void iterator.next();
  await iterator.return?.();
  expect(returned).toHaveLength(1);
  expect(shown.at(-1)).toMatchObject({ isRunning: false, isStopped: true });
});

/** The value as an iterable; throws if it is not in several pieces. */
function iterableOf(value: unknown): AsyncIterable<unknown> {
  if (!isAsyncIterable(value)) throw new Error('expected an iterable');
  return value;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
