import { assert, asyncProperty, gen } from 'fast-check';
import { expect, test } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { RedisAnswers } from '../../src/rest/cache/redis-answers.ts';
import { RedisEpochs } from '../../src/rest/cache/redis-epochs.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Upstream } from '../../src/rest/upstream.ts';
import { begin, callerWith, codeOf, connectCached, nameIn } from '../support/cached-clients.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import type { Handler } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';
import { Random } from './random.ts';
import { waitTurns } from './upstream.ts';

/** `WRITES_CASES=1000 WRITES_SEED=1 npx vitest run test/property/cache-writes` for a part of a long run. */
const numRuns = Number(process.env['WRITES_CASES'] ?? inForm(150, 20_000));
const seed = seedOf('WRITES_SEED');

const target = '/api/projects/1/';
const keys = ['one', 'two'];
const clients = 3;
const stepsOfClient = 6;

/** An upstream with a row for each key, which counts how often it was changed; it is as slow as `turnsNow` says. */
function counting(turnsNow: () => number): Handler {
  const changes = new Map<string, number>();
  return async ({ method, headers }) => {
    const key = headers.authorization ?? '';
    await waitTurns(turnsNow());
    if (method === 'PATCH') changes.set(key, (changes.get(key) ?? 0) + 1);
    const name = `${key} ${changes.get(key) ?? 0}`;
    await waitTurns(turnsNow());
    return project(1, { name });
  };
}

/** A client of one key that switches gateways, and remembers what it was last answered for a write of its own. */
class SwitchingClient {
  readonly #gateways: readonly Upstream[];
  readonly #random: Random;
  readonly #caller: Caller;
  #written = 0;

  constructor(gateways: readonly Upstream[], random: Random) {
    this.#gateways = gateways;
    this.#random = random;
    this.#caller = callerWith(random.pick(keys));
  }

  /** Reads or writes once; returns the fault in the answer, or undefined if there is none. */
  async step(): Promise<string | undefined> {
    const operation = await begin(this.#random.pick(this.#gateways), this.#caller);
    const { key } = this.#caller;
    try {
      if (!this.#random.once(3)) {
        const row = await operation.read(operations.getProject, target).catch(codeOf);
        if (isUnanswered(row)) return undefined;
        const read = changesIn(row, key);
        return read >= this.#written ? undefined : `${key}: read ${read} after having written ${this.#written}`;
      }
      // Some writes are given up, and arrive all the same, sooner or later.
      if (this.#random.once(3))
        void waitTurns(this.#random.number(0, 12)).then(() => operation.deadline.end('deadline'));
      const written = await operation.write(operations.updateProject, target, {}).catch(codeOf);
      if (!isUnanswered(written)) this.#written = Math.max(this.#written, changesIn(written, key));
      return undefined;
    } finally {
      operation.deadline.finish();
    }
  }
}

/** True if a call was given up, or refused because too many of the same kind had been. */
function isUnanswered(outcome: unknown): boolean {
  return outcome === 'UPSTREAM_TIMEOUT' || outcome === 'UPSTREAM_UNAVAILABLE';
}

/** The number of changes that a row tells. Throws for the row of another key. */
function changesIn(row: unknown, key: string): number {
  const [, owner, changes] = /^Bearer (\w+) (\d+)$/.exec(String(nameIn(row))) ?? [];
  if (owner !== key) throw new Error(`expected the row of ${key}, but got ${JSON.stringify(row)}`);
  return Number(changes);
}

/** Reads of clients that were older than the client's own last write. */
async function staleReads(redisUrl: string | undefined, gatewayCount: number): Promise<readonly string[]> {
  let random: Random | undefined;
  await using api = await startUpstream(
    counting(() => random?.number(0, 6) ?? 0),
    { hold: 1 },
  );
  const connections = Array.from({ length: gatewayCount }, () => connectRedis({ redisUrl }));
  const gateways = connections.map((redis) =>
    connectCached(
      api.url,
      redis && {
        epochs: new RedisEpochs(redis, api.url, () => undefined),
        remote: new RedisAnswers(redis, api.url),
      },
    ),
  );
  if (redisUrl !== undefined) await allShare(gateways);
  let answered = 0;
  const stale: string[] = [];
  await assert(
    asyncProperty(gen(), async (g) => {
      random = new Random(g);
      const wrong = await Promise.all(
        Array.from({ length: clients }, async () => {
          const client = new SwitchingClient(gateways, random ?? new Random(g));
          const found: (string | undefined)[] = [];
          for (let step = 0; step < stepsOfClient; step += 1) found.push(await client.step());
          return found;
        }),
      );
      stale.push(...wrong.flat().filter((one) => one !== undefined));
      expect(stale).toEqual([]);
      answered += clients * stepsOfClient;
    }),
    { numRuns, seed, endOnFailure: true },
  );
  const hits = gateways.reduce((sum, { cache }) => sum + (cache?.counts.answered ?? 0), 0);
  expect(hits).toBeGreaterThan(answered / 10);
  measured('reads of own writes', { interleavings: numRuns, answered, hits });
  random = undefined;
  for (const gateway of gateways) gateway.close();
  for (const redis of connections) redis?.close();
  return stale;
}

async function allShare(gateways: readonly Upstream[]): Promise<void> {
  const first = callerWith('first');
  for (let left = 2000; left > 0; left -= 1) {
    const epochs = await Promise.all(
      gateways.map(async ({ resources }) => resources.epochs.current(first.sharingKey, true)),
    );
    if (epochs.every((one) => one !== undefined)) return;
    await waitTurns(50);
  }
  throw new Error('expected every gateway to have a connection to Redis');
}

test(`over one gateway no client reads what is older than its own last write (seed ${seed})`, async () => {
  expect(await staleReads(undefined, 1)).toEqual([]);
}, 3_600_000);

test.skipIf(!hasRedis)(
  `over two gateways and a Redis no client reads what is older than its own last write (seed ${seed})`,
  async () => {
    await using redis = await startRedis();
    expect(await staleReads(redis.url, 2)).toEqual([]);
  },
  3_600_000,
);
