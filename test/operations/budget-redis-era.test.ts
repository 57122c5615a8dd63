import { expect, test, vi } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import { pause } from '../support/load.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const limit = 1200;

const cases = [
  { steps: 'all of which arrive', failing: undefined },
  { steps: 'one of which fails', failing: 2 },
];

test.skipIf(!hasRedis).each(cases)(
  'no wave begins while a Redis that has lost its data learns of calls in steps, $steps',
  async ({ failing }) => {
    await using redis = await startRedis();
    const connection = connectRedis({ redisUrl: redis.url }, () => undefined);
    const ledger = createLedger({
      settings: { windows: { rest: [{ limit, ms: 600_000 }] }, scope: 'all', share: 100, agentShare: 100, replicas: 1 },
      ...{ operationDeadlineMs: 8000, upstreamUrl: 'http://upstream.test', redis: connection, log: () => undefined },
    });
    await until(() => ledger.counting?.().mode === 'redis');
    let count = 0;
    /** Asks for waves of ten calls; the ids of those that may begin. */
    const begin = async (waves: number): Promise<string[]> => {
      const account = { key: '', subject: '' };
      const wants = Array.from({ length: waves }, () => ({
        ...{ ...account, isBackground: false, holds: false },
        parts: [{ surface: 'rest', ids: Array.from({ length: 10 }, () => `c${(count += 1)}`) } as const],
      }));
      const decisions = await ledger.reserve(wants);
      return wants.flatMap(({ parts }, nth) => (decisions[nth]?.kind === 'begin' ? (parts[0]?.ids ?? []) : []));
    };
    const ids: string[] = [];
    for (let waves = 0; waves < limit / 10; waves += 10) ids.push(...(await begin(10)));
    expect(ids).toHaveLength(limit);
    const last = ids.pop() ?? '';
    for (const id of ids) ledger.end({ id, key: '', subject: '', surface: 'rest' }, true);
    // Redis is told of their ends.
    await pause(200);
    let steps = 0;
    const run = connection?.run.bind(connection);
    if (connection !== undefined && run !== undefined)
      vi.spyOn(connection, 'run').mockImplementation((script, names, values) => {
        // What tells of few calls is no step.
        if (String(values[0]).length > 5000) steps += 1;
        return steps === failing ? pause(30).then(() => undefined) : run(script, names, values);
      });
    await redis.ask('FLUSHALL');
    ledger.end({ id: last, key: '', subject: '', surface: 'rest' }, true);
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
    ledger.close?.();
    connection?.close();
  },
);
