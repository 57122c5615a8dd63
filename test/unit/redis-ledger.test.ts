import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../../src/log.ts';
import type { SharedRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import { budgetOf } from '../support/budgets.ts';
import { connectTo } from '../support/redis.ts';
import { until } from '../support/until.ts';

/** Makes the ledger of a gateway that counts the calls of a window in a Redis. */
function startLedger(redis: SharedRedis, seconds: number, log: Log = () => undefined) {
  const settings = budgetOf({ rest: `100000/${seconds}` }, { scope: 'all' });
  const ledger = createLedger({ settings, operationDeadlineMs: 8000, upstreamUrl: 'http://upstream.test', redis, log });
  onTestFinished(() => ledger.close?.());
  return ledger;
}

test('a Redis that was out of reach since the start is sent only the calls that still count', async () => {
  const redis = connectTo();
  const isUp = vi.spyOn(redis, 'isUp', 'get').mockReturnValue(false);
  const onChange = vi.spyOn(redis, 'onChange').mockReturnValue(undefined);
  const run = vi.spyOn(redis, 'run').mockResolvedValue(undefined);
  const ledger = startLedger(redis, 0.1);
  for (let count = 0; count < 12_000; count += 1) {
    const call = { id: `call ${count}`, key: '', subject: '', surface: 'rest' } as const;
    const bySurface = [{ surface: call.surface, ids: [call.id] }];
    await ledger.reserve([{ key: '', subject: '', isBackground: false, holdsPlaces: false, bySurface }]);
    ledger.end(call, 'ended');
  }
  await delay(1200);
  isUp.mockReturnValue(true);
  run.mockClear().mockResolvedValue(['era', 0, []]);
  for (const [listener] of onChange.mock.calls) listener();
  await until(() => ledger.counting?.().mode === 'redis');
  const sent = run.mock.calls.map(([, , [round]]) => String(round).length);
  expect(sent.reduce((sum, length) => sum + length)).toBeLessThan(10_000);
});

test('calls that Redis has lost are counted as lost, also if the first try to send them again fails', async () => {
  const redis = connectTo();
  const answers = [['one', 0, []], [], undefined, ['two', 3, []]];
  vi.spyOn(redis, 'isUp', 'get').mockReturnValue(true);
  vi.spyOn(redis, 'run').mockImplementation(() => Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]));
  const messages: string[] = [];
  const ledger = startLedger(redis, 60, (_level, message) => void messages.push(message));
  await until(() => answers.length === 1 && ledger.counting?.().mode === 'redis');
  expect(ledger.counting?.().lostCalls).toBe(3);
  expect(messages.at(-1)).toMatch(/^Redis has lost calls/);
});
