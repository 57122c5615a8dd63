import { expect, test } from 'vitest';
import { LocalLedger } from '../../src/rest/budget/local-ledger.ts';

/** Bytes on the heap of this process and beside it. */
function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a key whose users have few calls takes a few kilobytes: callers invent keys', () => {
  const windows = { rest: [{ limit: 480, ms: 60_000 }], events: [{ limit: 240, ms: 60_000 }] };
  const ledger = new LocalLedger({ windows, share: 50, scope: 'key', longestCallMs: 10_000, gateways: 1 });
  const before = heldBytes();
  for (let key = 0; key < 500; key += 1)
    for (const surface of ['rest', 'events'] as const)
      ledger.reserve([
        {
          ...{ key: `invented ${key}`, subject: 'user', isBackground: false, holdsPlaces: false },
          bySurface: [{ surface, ids: [`${key}`] }],
        },
      ]);
  expect(heldBytes() - before).toBeLessThan(500 * 40_000);
  expect(ledger.look({ key: 'invented 499', subject: 'user' }, ['rest']).get('rest')).toMatchObject([
    [{ limit: 480, remaining: 479 }],
    [{ limit: 240, remaining: 239 }],
  ]);
});
