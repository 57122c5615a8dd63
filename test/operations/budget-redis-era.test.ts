import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Log } from '../../src/log.ts';
import { connectRedis, type SharedRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import type { Ledger, WindowLimit } from '../../src/rest/ledger.ts';
import { pause } from '../support/load.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const limit = 1200;

const first = { key: '', subject: '' };

async function connect(
  url: string,
  windows: readonly WindowLimit[],
  { log = () => undefined, replicas = 1 }: { readonly log?: Log; readonly replicas?: number } = {},
): Promise<Counting> {
  const redis = connectRedis({ redisUrl: url });
  if (redis === undefined) throw new Error('no Redis');
  const ledger = createLedger({
    settings: { windows: { rest: windows }, scope: 'all', share: 100, agentShare: 100, replicas },
    ...{ operationDeadlineMs: 8000, upstreamUrl: 'http://upstream.test', redis, log },
  });
  await until(() => ledger.counting?.().mode === 'redis');
  const close = (): void => {
    ledger.close?.();
    redis.close();
  };
  return { redis, ledger, [Symbol.dispose]: close };
}

interface Counting extends Disposable {
  readonly redis: SharedRedis;
  readonly ledger: Ledger;
}

const cases = [
  { steps: 'all of which arrive', failing: undefined },
  { steps: 'one of which fails', failing: 2 },
];

describe.skipIf(!hasRedis)('A Redis that counts calls', () => {
  test.each(cases)(
    'no wave begins while a Redis that has lost its data learns of calls in steps, $steps',
    async ({ failing }) => {
      await using redis = await startRedis();
      using counting = await connect(redis.url, [{ limit, ms: 600_000 }]);
      const { redis: connection, ledger } = counting;
      let count = 0;
      /** Asks for waves of ten calls; the ids of those that may begin. */
      const begin = async (waves: number): Promise<string[]> => {
        const wants = Array.from({ length: waves }, () => ({
          ...{ ...first, isBackground: false, holdsPlaces: false },
          bySurface: [{ surface: 'rest', ids: Array.from({ length: 10 }, () => `c${(count += 1)}`) } as const],
        }));
        const decisions = await ledger.reserve(wants);
        return wants.flatMap(({ bySurface }, nth) =>
          decisions[nth]?.kind === 'begin' ? (bySurface[0]?.ids ?? []) : [],
        );
      };
      const ids: string[] = [];
      for (let waves = 0; waves < limit / 10; waves += 10) ids.push(...(await begin(10)));
      expect(ids).toHaveLength(limit);
      const last = ids.pop() ?? '';
      for (const id of ids) ledger.end({ ...first, id, surface: 'rest' }, 'proves key');
      // Redis is told of their ends.
      await pause(200);
      let steps = 0;
      const run = connection.run.bind(connection);
      vi.spyOn(connection, 'run').mockImplementation((script, names, values) => {
        // Scripts with few calls do not count as steps.
        if (String(values[0]).length > 5000) steps += 1;
        return steps === failing ? pause(30).then(() => undefined) : run(script, names, values);
      });
      await redis.ask('FLUSHALL');
      ledger.end({ ...first, id: last, surface: 'rest' }, 'proves key');
      const begun = await Promise.all(
        Array.from({ length: 50 }, async (_, nth) => {
          await new Promise((resolve) => setTimeout(resolve, nth));
          return begin(3);
        }),
      );
      expect(begun.flat()).toEqual([]);
      await until(() => ledger.counting?.().mode === 'redis');
      expect(steps).toBeGreaterThan(2);
      expect(await begin(1)).toEqual([]);
    },
  );

  test('waves that find together that Redis has lost calls have the part of their gateway', async () => {
    await using redis = await startRedis();
    const logged: string[] = [];
    const log: Log = (_level, message) => logged.push(message);
    using counting = await connect(redis.url, [{ limit: 4, ms: 600_000 }], { log, replicas: 2 });
    const begin = async (id: string): Promise<string | undefined> => {
      const bySurface = [{ surface: 'rest', ids: [id] } as const];
      return (await counting.ledger.reserve([{ ...first, isBackground: false, holdsPlaces: false, bySurface }]))[0]
        ?.kind;
    };
    expect(await begin('a')).toBe('begin');
    await redis.ask('FLUSHALL');
    expect(await Promise.all(['b', 'c', 'd'].map(begin))).toEqual(['begin', 'wait', 'wait']);
    await until(() => counting.ledger.counting?.().mode === 'redis');
    expect(await begin('e')).toBe('begin');
    expect(await begin('f')).toBe('begin');
    expect(await begin('g')).toBe('wait');
    expect(logged).toEqual([
      'calls are counted in Redis',
      'Redis has lost calls that it had counted: this gateway has added its own again',
    ]);
  });

  test('calls that end while Redis learns of all calls are told, though there are more of them than are kept as changes', async () => {
    await using redis = await startRedis();
    const calls = 11_000;
    using counting = await connect(redis.url, [{ limit: calls, ms: 1000 }]);
    const { redis: connection, ledger } = counting;
    const ids = Array.from({ length: calls }, (_, nth) => `c${nth}`);
    const want = { ...first, isBackground: false, holdsPlaces: false, bySurface: [{ surface: 'rest', ids } as const] };
    expect(await ledger.reserve([want])).toMatchObject([{ kind: 'begin' }]);
    const lastStep = Promise.withResolvers<void>();
    let adding = 0;
    const run = connection.run.bind(connection);
    vi.spyOn(connection, 'run').mockImplementation(async (script, names, values) => {
      const answer = run(script, names, values);
      adding += String(values[0]).includes(`"${ids.at(-1)}"`) ? 1 : 0;
      if (adding === 1) await lastStep.promise;
      return answer;
    });
    await redis.ask('FLUSHALL');
    await until(() => adding === 1);
    for (const id of ids) ledger.end({ ...first, id, surface: 'rest' }, 'proves key');
    lastStep.resolve();
    await vi.waitFor(
      async () => {
        const [[window] = []] = (await ledger.look(first, ['rest'])).get('rest') ?? [];
        expect([ledger.counting?.().mode, window?.remaining]).toEqual(['redis', calls]);
      },
      { timeout: 5000 },
    );
  });

  test.each([
    { what: 'loses calls again and again', answer: () => [randomUUID()], reason: 'Redis keeps losing calls' },
    { what: 'answers something else', answer: () => 'OK', reason: 'unexpected answer' },
  ])('a Redis that $what does not decide, and the log says so', async ({ answer, reason }) => {
    await using redis = await startRedis();
    const logged: object[] = [];
    const log: Log = (_level, msg, fields) => logged.push({ msg, ...fields });
    using counting = await connect(redis.url, [{ limit, ms: 1000 }], { log });
    vi.spyOn(counting.redis, 'run').mockImplementation(async () => answer());
    await until(() => counting.ledger.counting?.().mode === 'local');
    expect(logged.at(-1)).toEqual({
      msg: 'calls cannot be counted in Redis: this gateway has its part of the budget',
      ...{ reason, gateways: 1 },
    });
  });
});
