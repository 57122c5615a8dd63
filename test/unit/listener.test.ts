import { expect, test } from 'vitest';
import { type Added, Listener, WaitingRoom } from '../../src/live/listener.ts';
import { MemoryRoom } from '../../src/memory.ts';

const endless = Number.POSITIVE_INFINITY;

/** A message for which so many characters were read. */
function message(received = 0): Added {
  return { list: { noun: 'Event', scope: '1' }, rows: [], place: { offset: 0 }, gap: false, received };
}

function listenIn(waiting: WaitingRoom) {
  let ends = 0;
  const listener = new Listener({ room: waiting, onEnd: () => void (ends += 1) });
  return { listener, ends: () => ends };
}

test('a listener gets what was passed to it before it asked, and what comes while it waits', async () => {
  const { listener } = listenIn(new WaitingRoom(new MemoryRoom(endless)));
  const [first, second] = [message(), message()];
  listener.add([first]);
  const iterator = listener[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toBe(first);
  const next = iterator.next();
  listener.add([second]);
  expect((await next).value).toBe(second);
});

test('a listener for which too many messages wait is ended as slow', () => {
  const room = new MemoryRoom(endless);
  const waiting = new WaitingRoom(room);
  const { listener, ends } = listenIn(waiting);
  for (let added = 0; added < 64; added += 1) listener.add([message(1)]);
  expect([listener.isSlow, room.taken]).toEqual([false, 64 * 3]);
  listener.add([message(1)]);
  listener.add([message(1)]);
  expect([listener.isSlow, ends(), room.taken]).toEqual([true, 1, 0]);
});

test('a listener for which more than 16 MiB wait when more comes is ended as slow, though one poll may bring more', async () => {
  const room = new MemoryRoom(endless);
  const waiting = new WaitingRoom(room);
  const [reading, stuck] = [listenIn(waiting).listener, listenIn(waiting).listener];
  const large = Array.from({ length: 3 }, () => message(2 * 2 ** 20));
  for (const one of [reading, stuck]) one.add(large);
  expect([reading.isSlow, stuck.isSlow, room.taken]).toEqual([false, false, 18 * 2 ** 20]);
  const iterator = reading[Symbol.asyncIterator]();
  for (const added of large) expect((await iterator.next()).value).toBe(added);
  const last = message(1);
  for (const one of [reading, stuck]) one.add([last]);
  expect([reading.isSlow, stuck.isSlow, room.taken]).toEqual([false, true, 3]);
  expect((await iterator.next()).value).toBe(last);
});

test('a message takes room once, however many it waits for, until the last of them has taken it', async () => {
  const room = new MemoryRoom(30);
  const waiting = new WaitingRoom(room);
  const [one, other] = [listenIn(waiting).listener, listenIn(waiting).listener];
  const added = message(10);
  one.add([added]);
  other.add([added]);
  expect(room.taken).toBe(30);
  await one[Symbol.asyncIterator]().next();
  expect(room.taken).toBe(30);
  other.end();
  expect(room.taken).toBe(0);
});

test('a listener for whose message there is no room is ended as slow, and others keep theirs', () => {
  const room = new MemoryRoom(30);
  const waiting = new WaitingRoom(room);
  const [one, other] = [listenIn(waiting).listener, listenIn(waiting).listener];
  one.add([message(10)]);
  other.add([message(1)]);
  expect([one.isSlow, other.isSlow, room.taken]).toEqual([false, true, 30]);
});

test('an error ends the iteration at once: what waits is not passed on any more', async () => {
  const { listener, ends } = listenIn(new WaitingRoom(new MemoryRoom(endless)));
  listener.add([message()]);
  listener.end(new Error('over'));
  await expect(listener[Symbol.asyncIterator]().next()).rejects.toThrow('over');
  expect(ends()).toBe(1);
});
