import { beforeEach, describe, expect, test } from 'vitest';
import { Membership } from '../../src/rest/budget/membership.ts';
import type { ScriptReply } from '../../src/rest/budget/redis-script.ts';

const second = 1000;
const windows = [
  { limit: 30, ms: 10 * second },
  { limit: 100, ms: 60 * second },
];
const all = Number.MAX_SAFE_INTEGER;

let now = 0;
beforeEach(() => {
  now = 1_000_000;
});

/** One of three gateways. */
function startMember(): Membership {
  return new Membership(3, () => now);
}

/** What Redis answers whose state is so old, and has been joined by so many. */
function reply(born: string, ageMs: number, gateways: number): ScriptReply {
  return { born, joined: { ageMs, gateways, tellsProcess: true, verdicts: [], states: [] } };
}

describe('A gateway', () => {
  test('has its part from the start until Redis is reached, and all that Redis knows of once all have joined', () => {
    const member = startMember();
    expect(member.limitsOf(windows)).toEqual([10, 33]);
    member.heard(reply('a', 0, 1));
    expect(member.limitsOf(windows)).toEqual([10, 33]);
    member.heard(reply('a', second, 3));
    expect(member.limitsOf(windows)).toEqual([all, all]);
  });

  test('leaves each window to Redis that is younger than its state, though others have not joined', () => {
    const member = startMember();
    member.heard(reply('a', 11 * second, 1));
    expect(member.limitsOf(windows)).toEqual([10, 33]);
    now += second;
    expect(member.limitsOf(windows)).toEqual([all, 33]);
    now += 50 * second;
    expect(member.limitsOf(windows)).toEqual([all, all]);
  });

  test('that has lost Redis has nothing of a window until that has passed, then its part', () => {
    const member = startMember();
    member.heard(reply('a', 0, 3));
    member.leave();
    expect(member.limitsOf(windows)).toEqual([0, 0]);
    expect(member.waitMs(windows)).toBe(60 * second);
    now += 10 * second;
    expect(member.limitsOf(windows)).toEqual([10, 0]);
    member.leave();
    now += 50 * second;
    expect([member.limitsOf(windows), member.waitMs(windows)]).toEqual([[10, 33], 0]);
  });

  test('goes on at once with a state that has outlived the connection', () => {
    const member = startMember();
    member.heard(reply('a', 3600 * second, 3));
    member.leave();
    now += second;
    member.heard(reply('a', 3601 * second, 1));
    expect(member.limitsOf(windows)).toEqual([all, all]);
  });

  test('has its part until the others are back, too, if it was without Redis for so long that they had theirs', () => {
    const member = startMember();
    member.heard(reply('a', 3600 * second, 3));
    member.leave();
    now += 12 * second;
    member.heard(reply('a', 3612 * second, 3));
    expect(member.limitsOf(windows)).toEqual([10, all]);
    now += 3 * second;
    expect(member.limitsOf(windows)).toEqual([all, all]);
  });

  test('whose part is nothing asks again no sooner than in a window', () => {
    const member = startMember();
    const [small, large] = [
      { limit: 2, ms: second },
      { limit: 30, ms: second },
    ];
    expect([member.limitsOf([small]), member.waitMs([small])]).toEqual([[0], second]);
    expect([member.limitsOf([large]), member.waitMs([large])]).toEqual([[10], 0]);
  });

  test('does not take a new state for whole because the old one was', () => {
    const member = startMember();
    member.heard(reply('a', 0, 3));
    member.leave();
    member.heard(reply('b', 0, 2));
    expect(member.limitsOf(windows)).toEqual([0, 0]);
    member.heard(reply('b', second, 3));
    expect(member.limitsOf(windows)).toEqual([all, all]);
  });
});
