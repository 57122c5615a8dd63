import { array, assert, integer, nat, option, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { CallWindows, type CountedCall, notSent } from '../../src/rest/call-windows.ts';
import type { WindowLimit } from '../../src/rest/ledger.ts';

const second = 1000;

/** A log with a clock that the test sets. */
class Clocked {
  now = 0;
  readonly log: CallWindows;
  readonly begun: CountedCall[] = [];
  readonly #limits: readonly number[];

  constructor(windows: readonly WindowLimit[], longestCallMs = 60 * second) {
    this.#limits = windows.map(({ limit }) => limit);
    this.log = new CallWindows(windows, longestCallMs);
  }

  get room(): number {
    return this.roomWithin(this.#limits);
  }

  roomWithin(limits: readonly number[]): number {
    return Math.min(...this.log.outlook(this.now, limits).map(({ remaining }) => remaining));
  }

  turn(n: number, limits = this.#limits): number {
    return this.log.waitMs(this.now, limits, n);
  }

  begin(): CountedCall {
    const call: CountedCall = {
      ...{ id: `${this.begun.length}`, key: 'key', subject: '', surface: 'rest' },
      ...{ beganAt: this.now, endedAt: Number.POSITIVE_INFINITY },
    };
    this.begun.push(call);
    this.log.begin(call);
    return call;
  }

  end(call: CountedCall): void {
    this.log.end(call.id, this.now);
  }
}

test('a call counts from its beginning until one window after its end', () => {
  const clock = new Clocked([{ limit: 1, ms: 10 * second }]);
  const call = clock.begin();
  clock.now = 5 * second;
  expect(clock.room).toBe(0);
  clock.end(call);
  clock.now = 15 * second - 1;
  expect(clock.room).toBe(0);
  clock.now = 15 * second;
  expect(clock.room).toBe(1);
});

test('of several windows the one with the least room decides', () => {
  const clock = new Clocked([
    { limit: 2, ms: second },
    { limit: 3, ms: 60 * second },
  ]);
  for (const call of [clock.begin(), clock.begin()]) clock.end(call);
  expect(clock.room).toBe(0);
  clock.now = 2 * second;
  expect(clock.room).toBe(1);
  clock.end(clock.begin());
  clock.now = 4 * second;
  expect([clock.room, clock.turn(1), clock.turn(2), clock.turn(3)]).toEqual([0, 56 * second, 56 * second, 58 * second]);
});

test('a call that was not made after all does not count', () => {
  const clock = new Clocked([{ limit: 1, ms: second }]);
  clock.log.end(clock.begin().id, notSent);
  expect(clock.room).toBe(1);
});

test('a call without an answer ends when no call can take longer', () => {
  const clock = new Clocked([{ limit: 1, ms: second }], 5 * second);
  clock.begin();
  clock.now = 6 * second - 1;
  expect(clock.room).toBe(0);
  clock.now = 6 * second;
  expect(clock.room).toBe(1);
});

test('a call that ended without a report before others is logged before them', () => {
  const clock = new Clocked([{ limit: 2, ms: 10 * second }], 5 * second);
  clock.begin();
  clock.now = 4 * second;
  const heard = clock.begin();
  clock.now = 6 * second;
  clock.end(heard);
  expect([clock.turn(1), clock.turn(2)]).toEqual([9 * second, 10 * second]);
});

test('turns behind all that count come a window later, and those in flight count for a window at least', () => {
  const clock = new Clocked([{ limit: 2, ms: 10 * second }]);
  expect([1, 2, 3, 4, 5].map((n) => clock.turn(n))).toEqual([0, 0, 10 * second, 10 * second, 20 * second]);
  clock.begin();
  clock.begin();
  expect([1, 2, 3].map((n) => clock.turn(n))).toEqual([10 * second, 10 * second, 20 * second]);
});

test('limits other than its own may be in force, and of nothing no call can begin', () => {
  const clock = new Clocked([{ limit: 4, ms: second }]);
  clock.begin();
  expect(clock.roomWithin([2])).toBe(1);
  expect(clock.roomWithin([0])).toBe(0);
  expect(clock.turn(1, [0])).toBeGreaterThan(0);
});

/** A step of a random run: time passes, calls begin if there is room, and one in flight may end. */
const step = record({ passMs: nat(700), begins: nat(3), ends: option(nat(5), { nil: undefined }) });

test('in no span as long as a window are more calls begun or in flight than it allows, however calls come and end', () => {
  const window = record({ limit: integer({ min: 1, max: 6 }), ms: integer({ min: 1, max: 3000 }) });
  assert(
    property(array(window, { minLength: 1, maxLength: 3 }), array(step, { maxLength: 80 }), (all, steps) => {
      const clock = new Clocked(all);
      let inFlight: CountedCall[] = [];
      for (const { passMs, begins, ends } of steps) {
        clock.now += passMs;
        for (let left = begins; left > 0 && clock.room > 0; left -= 1) inFlight.push(clock.begin());
        const ended = ends === undefined ? undefined : inFlight[ends];
        if (ended !== undefined) clock.end(ended);
        inFlight = inFlight.filter((call) => call !== ended);
      }
      for (const { limit, ms } of all) {
        // A span holds the most if it begins where a call ends, or begins with one.
        const starts = clock.begun.flatMap(({ beganAt, endedAt }) => [beganAt, endedAt]).filter(Number.isFinite);
        for (const from of starts) {
          const within = clock.begun.filter(({ beganAt, endedAt }) => beganAt < from + ms && endedAt >= from);
          expect(within.length).toBeLessThanOrEqual(limit);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('what it says of a turn is true if nothing begins before it, and calls in flight end at once', () => {
  assert(
    property(array(step, { maxLength: 60 }), integer({ min: 1, max: 4 }), (steps, n) => {
      const clock = new Clocked([
        { limit: 4, ms: 2000 },
        { limit: 9, ms: 7000 },
      ]);
      for (const { passMs, begins } of steps) {
        clock.now += passMs;
        for (let left = begins; left > 0 && clock.room > 0; left -= 1) clock.end(clock.begin());
      }
      const turn = clock.turn(n);
      clock.now += Math.max(0, turn - 1);
      const before = clock.room;
      clock.now += 1;
      expect([before >= n, clock.room >= n]).toEqual([turn === 0, true]);
    }),
    { numRuns: 500 },
  );
});
