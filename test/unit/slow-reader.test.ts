import { expect, test } from 'vitest';
import { SlowReader } from '../../src/http/slow-readers.ts';

const limits = { graceMs: 1000, bytesPerSecond: 100 };
const answer = {};

test('a client has the grace, and time for the bytes of its answer', () => {
  const reader = new SlowReader(limits);
  const written = { bytesWritten: 500, writableLength: 500 };
  for (const now of [0, 1000, 5999]) expect(reader.isLate(written, answer, now)).toBe(false);
  expect(reader.isLate(written, answer, 6001)).toBe(true);
});

test('taking a little now and then does not begin anew', () => {
  const reader = new SlowReader(limits);
  for (const [now, writableLength] of [
    [0, 500],
    [3000, 400],
    [6000, 300],
  ] as const)
    expect(reader.isLate({ bytesWritten: 500, writableLength }, answer, now)).toBe(false);
  expect(reader.isLate({ bytesWritten: 500, writableLength: 200 }, answer, 6001)).toBe(true);
});

test('a client that has taken all of it has all its time again for the next', () => {
  const reader = new SlowReader(limits);
  expect(reader.isLate({ bytesWritten: 500, writableLength: 500 }, answer, 0)).toBe(false);
  expect(reader.isLate({ bytesWritten: 500, writableLength: 0 }, answer, 5000)).toBe(false);
  for (const now of [6000, 7999]) {
    expect(reader.isLate({ bytesWritten: 600, writableLength: 100 }, answer, now)).toBe(false);
  }
  expect(reader.isLate({ bytesWritten: 600, writableLength: 100 }, answer, 8001)).toBe(true);
});

test('a client that has taken an answer before it asked again has all its time again', () => {
  const reader = new SlowReader(limits);
  expect(reader.isLate({ bytesWritten: 500, writableLength: 500 }, answer, 0)).toBe(false);
  expect(reader.isLate({ bytesWritten: 900, writableLength: 400 }, {}, 6001)).toBe(false);
});

test('a client that takes little at a time has a pause for as long as that needs at the least rate', () => {
  const reader = new SlowReader({ graceMs: 30_000, bytesPerSecond: 100 });
  const begin = { bytesWritten: 0, writableLength: 0 };
  reader.noteTaken(begin, 0);
  expect(reader.stuckSince(begin)).toBeUndefined();
  // 400 bytes are taken, which need 4 seconds.
  reader.noteTaken({ bytesWritten: 400, writableLength: 0 }, 1000);
  const waiting = { bytesWritten: 800, writableLength: 400 };
  expect([reader.stuckSince(waiting), reader.pausesUntil]).toEqual([1000, 5000]);
  reader.noteTaken({ bytesWritten: 800, writableLength: 200 }, 4000);
  expect([reader.stuckSince({ bytesWritten: 800, writableLength: 200 }), reader.pausesUntil]).toEqual([4000, 7000]);
});

test('a client that has taken nothing has no pause, and one that has taken very much has one of 14 seconds', () => {
  const reader = new SlowReader({ graceMs: 30_000, bytesPerSecond: 100 });
  const waiting = { bytesWritten: 1e9, writableLength: 1e9 };
  reader.noteTaken(waiting, 0);
  expect([reader.stuckSince(waiting), reader.pausesUntil]).toEqual([0, 0]);
  const fast = { bytesWritten: 1e9, writableLength: 1000 };
  reader.noteTaken(fast, 2000);
  expect([reader.stuckSince(fast), reader.pausesUntil]).toEqual([2000, 16_000]);
});

test('a client that takes nothing for 15 seconds is late, however much it had taken', () => {
  const reader = new SlowReader({ graceMs: 30_000, bytesPerSecond: 100 });
  const waiting = { bytesWritten: 1e9, writableLength: 1000 };
  reader.noteTaken(waiting, 0);
  expect(reader.isLate(waiting, answer, 15_000)).toBe(false);
  expect(reader.isLate(waiting, answer, 15_001)).toBe(true);
});
