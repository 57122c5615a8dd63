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
