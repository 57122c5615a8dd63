import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { expect, test } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import { LocalLedger } from '../../src/rest/budget/local-ledger.ts';
import type { Ledger, LedgerCall, Want, WantDecision } from '../../src/rest/ledger.ts';
import { budgetOf } from '../support/budgets.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const settings = budgetOf({ rest: '5/600,8/3600', events: '3/600' }, { scope: 'all', share: 40 });

const want = record({
  subject: constantFrom('', 'ada', 'bob'),
  isBackground: boolean(),
  holdsPlaces: boolean(),
  rest: integer({ min: 1, max: 4 }),
  events: integer({ min: 0, max: 2 }),
});

/** Wants that ask together, and what becomes of those that begin. */
const step = record({ wants: array(want, { minLength: 1, maxLength: 3 }), isSent: boolean() });

let lastId = 0;

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, () => `${(lastId += 1)}`);
}

function callsOf({ key, subject, bySurface }: Want): readonly LedgerCall[] {
  return bySurface.flatMap(({ surface, ids: all }) => all.map((id) => ({ id, key, subject, surface })));
}

/** A decision as both ledgers have to tell it. Their clocks differ by a few milliseconds. */
function told(decision: WantDecision): unknown {
  return decision.kind === 'begin' ? 'begin' : Math.round(decision.turnMs / 10_000);
}

async function decide(ledger: Ledger, wants: readonly Want[], isSent: boolean): Promise<readonly unknown[]> {
  const decisions = await ledger.reserve(wants);
  for (const [index, decision] of decisions.entries()) {
    if (decision.kind === 'wait') continue;
    for (const call of wants.slice(index, index + 1).flatMap(callsOf))
      ledger.end(call, isSent ? 'proves key' : 'not sent');
  }
  return decisions.map(told);
}

test.skipIf(!hasRedis)('Redis decides on wants as a process does', async () => {
  await using redis = await startRedis();
  let run = 0;
  await assert(
    asyncProperty(array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const connection = connectRedis({ redisUrl: redis.url });
      run += 1;
      const upstreamUrl = `http://${run}.test`;
      const shared = createLedger({ settings, operationDeadlineMs: 5000, upstreamUrl, redis: connection });
      const local = new LocalLedger({ ...settings, longestCallMs: 6500, gateways: 1 });
      await until(() => shared.counting?.().mode === 'redis');
      for (const { wants, isSent } of steps) {
        const asked = wants.map(({ subject, isBackground, holdsPlaces, rest, events }): Want => {
          const bySurface = [
            { surface: 'rest', ids: ids(rest) } as const,
            { surface: 'events', ids: ids(events) } as const,
          ];
          return {
            key: '',
            subject,
            isBackground,
            holdsPlaces,
            bySurface: bySurface.filter((part) => part.ids.length > 0),
          };
        });
        expect(await decide(shared, asked, isSent)).toEqual(await decide(local, asked, isSent));
        const who = { key: '', subject: 'ada' };
        const left = async (ledger: Ledger): Promise<unknown> =>
          [...(await ledger.look(who, ['rest', 'events']))].map(([surface, logs]) => [
            surface,
            logs.map((windows) => windows.map(({ limit, remaining }) => [limit, remaining])),
          ]);
        expect(await left(shared)).toEqual(await left(local));
      }
      shared.close?.();
      connection?.close();
    }),
    { numRuns: 40 },
  );
});
