import { assert, asyncProperty, gen } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { isObject } from '../../src/rest/values.ts';
import { createSchema } from '../../src/schema.ts';
import { startCaching } from '../support/cache.ts';
import { inForm, seedOf } from '../support/form.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { notFound, reply } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { startUpstream } from '../support/upstream.ts';
import { operationOf } from './operations.ts';
import { Random } from './random.ts';
import { answerOf } from './upstream.ts';
import { type World, worldOf } from './world.ts';

/** `CACHE_SEED=1 npx vitest run test/property/cache` for a run of before. */
const seed = seedOf('CACHE_SEED');
const operationsOfCase = 20;

const schema = createSchema();
const cursorSecret = 'secret of the properties';
const cursors = createCursorCodec(cursorSecret);
const maxPageSize = 10;
const limits = { cursorSecret, maxPageSize, maxUpstreamCalls: 5000, operationDeadlineMs: 60_000 };

/** The beginning of every answer of this upstream, and of no other JSON text. */
const mark = '\n\n';

function answering(worldNow: () => World): Handler {
  return ({ target }) => {
    try {
      return reply({ body: mark + JSON.stringify(answerOf(worldNow(), target)) });
    } catch (error) {
      if (error instanceof UpstreamError) return notFound;
      throw error;
    }
  };
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/** An answer as a client sees it, with its errors sorted: two runs may differ in their order only. */
function seen({ data, errors = [] }: Answer): string {
  const told = errors.map(({ message, path, extensions }) => JSON.stringify({ message, path, extensions }));
  return JSON.stringify({ data: data as unknown, errors: told.toSorted() });
}

/** A number in the cost of an answer; 0 if the operation was refused. */
function costOf({ extensions }: Answer, name: string): number {
  const cost = extensions?.['cost'];
  return isObject(cost) ? Number(cost[name]) : 0;
}

test(`answers from the cache are those without one, and change nothing that is shared (seed ${seed})`, async () => {
  const parse = JSON.parse.bind(JSON);
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver): unknown => {
    const value: unknown = parse(text, reviver);
    return text.startsWith(mark) ? frozen(value) : value;
  });
  let world: World = { lists: new Map() };
  await using upstream = await startUpstream(
    answering(() => world),
    { hold: 1 },
  );
  await using plain = await startGateway(upstream, limits);
  await using caching = await startCaching(upstream, limits);
  await assert(
    asyncProperty(gen(), async (g) => {
      const random = new Random(g);
      // Kept answers of the world before are no longer fresh.
      caching.pass(10_000);
      // The last page of events does not show if its list is walked by offset. A kept page may be the last one when a
      // smaller one is not, so with offsets the form of its cursors could differ.
      world = { ...worldOf(random, 8), isWalkedByTime: true };
      const options = { random, world, schema, cursors, maxPageSize, depth: 4, width: 3, absent: true };
      const queries = Array.from({ length: operationsOfCase }, () => operationOf(options));
      for (const query of queries) {
        const expected = seen(await plain.ask(query));
        expect([query, seen(await caching.ask(query))]).toEqual([query, expected]);
        expect([query, seen(await caching.ask(query))]).toEqual([query, expected]);
      }
      const told = await caching.ask(queries[0] ?? '', { extensions: { cost: true } });
      expect(costOf(told, 'actual') + costOf(told, 'cached')).toBeLessThanOrEqual(costOf(told, 'requested'));
    }),
    { numRuns: inForm(5, 200), seed, endOnFailure: true },
  );
  expect([...plain.reported, ...caching.reported]).toEqual([]);
}, 3_600_000);
