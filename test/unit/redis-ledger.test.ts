import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import { until } from '../support/until.ts';

test('a Redis that was out of reach since the start is sent only the calls that still count', async () => {
  const redis = connectRedis({ redisUrl: 'redis://127.0.0.1:1' });
  if (redis === undefined) throw new Error('no Redis');
  let isUp = false;
  let onChange = (): void => undefined;
  let sent = 0;
  vi.spyOn(redis, 'isUp', 'get').mockImplementation(() => isUp);
  vi.spyOn(redis, 'onChange').mockImplementation((listener) => void (onChange = listener));
  vi.spyOn(redis, 'run').mockImplementation((_script, _names, [round]) => {
    if (isUp) sent += String(round).length;
    return Promise.resolve(isUp ? ['era', 0, []] : undefined);
  });
  const ledger = createLedger({
    settings: {
      ...{ windows: { rest: [{ limit: 100_000, ms: 100 }] }, scope: 'all', replicas: 1 },
      ...{ share: 100, agentShare: 100 },
    },
    ...{ operationDeadlineMs: 8000, upstreamUrl: 'http://upstream.test', redis },
  });
  for (let count = 0; count < 12_000; count += 1) {
    const call = { id: `call ${count}`, key: '', subject: '', surface: 'rest' } as const;
    const bySurface = [{ surface: call.surface, ids: [call.id] }];
    await ledger.reserve([{ key: '', subject: '', isBackground: false, holdsPlaces: false, bySurface }]);
    ledger.end(call, 'ended');
  }
  await delay(1200);
  isUp = true;
  onChange();
  await until(() => ledger.counting?.().mode === 'redis');
  expect(sent).toBeLessThan(10_000);
  ledger.close?.();
  redis.close();
});

test('calls that Redis has lost are counted as lost, also if the first try to send them again fails', async () => {
  const redis = connectRedis({ redisUrl: 'redis://127.0.0.1:1' });
  if (redis === undefined) throw new Error('no Redis');
  vi.spyOn(redis, 'isUp', 'get').mockReturnValue(true);
  const answers = [['one', 0, []], [], undefined, ['two', 3, []]];
  vi.spyOn(redis, 'run').mockImplementation(() => Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]));
  const messages: string[] = [];
  const ledger = createLedger({
    settings: {
      ...{ windows: { rest: [{ limit: 100, ms: 60_000 }] }, scope: 'all', replicas: 1 },
      ...{ share: 100, agentShare: 100 },
    },
    ...{ operationDeadlineMs: 8000, upstreamUrl: 'http://upstream.test', redis },
    log: (_level, message) => void messages.push(message),
  });
  await until(() => answers.length === 1 && ledger.counting?.().mode === 'redis');
  expect(ledger.counting?.().lostCalls).toBe(3);
  expect(messages.at(-1)).toMatch(/^Redis has lost calls/);
  ledger.close?.();
  redis.close();
});
