import { expect, test } from 'vitest';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { BodyRoom } from '../../src/rest/transport/body-room.ts';

const limits = { operation: 2 ** 20, process: 2 ** 21 };
const text = JSON.stringify('x'.repeat(600_000));

test('a body that operations share takes its room once, until the last of them has finished', () => {
  const room = new BodyRoom(limits);
  const [first, second] = [new OperationDeadline(1000), new OperationDeadline(1000)];
  const body = room.keep(text, false);
  for (const deadline of [first, second]) if (body !== undefined) deadline.keep(body, limits.operation);
  body?.release();
  expect(room.taken).toBe(body?.bytes);
  first.finish();
  expect(room.taken).toBe(body?.bytes);
  second.finish();
  second.finish();
  expect(room.taken).toBe(0);
});

test('an operation that would keep more than it may ends, and gives back what it has when it finishes', () => {
  const room = new BodyRoom(limits);
  const deadline = new OperationDeadline(1000);
  for (const isKept of [true, false]) {
    const body = room.keep(text, false);
    if (body !== undefined) deadline.keep(body, limits.operation);
    body?.release();
    expect(deadline.ended === undefined).toBe(isKept);
  }
  expect(deadline.ended).toMatchObject({ code: 'COST_LIMIT_EXCEEDED' });
  expect(deadline.bodyExcess).toEqual({ count: 2 * 600_002, limit: limits.operation });
  expect(room.taken).toBe(600_002);
  deadline.finish();
  expect(room.taken).toBe(0);
});

test('large bodies leave a quarter of the room to small ones, and what a write answered is always kept', () => {
  const room = new BodyRoom(limits);
  for (const expected of [true, true, false]) expect(room.keep(text, false) !== undefined).toBe(expected);
  expect(room.keep('[1,2,3]', false)).toBeDefined();
  const arriving = room.claim();
  expect(arriving.resize(100_000)).toBe(true);
  expect(arriving.resize(500_000)).toBe(false);
  arriving.insist(500_000);
  arriving.release();
  expect(room.keep(text, true)?.bytes).toBe(600_002);
  expect(room.taken).toBeGreaterThan(3 * 600_000);
});
