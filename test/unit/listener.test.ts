import { expect, test } from 'vitest';
import { Listener, type TailMessage } from '../../src/live/listener.ts';
import { MemoryRoom } from '../../src/memory.ts';

const endless = Number.POSITIVE_INFINITY;

/** A message for which so many characters were read. */
function message(received = 0, room = new MemoryRoom(endless)): TailMessage {
  const list = { noun: 'Event', scope: '1' } as const;
  return { list, rows: [], position: { offset: 0 }, gap: false, received, claim: room.claim() };
}

/** Passes messages on as a poller does. */
function send(messages: readonly TailMessage[], ...listeners: readonly Listener[]): void {
  for (const listener of listeners) listener.add(messages);
  for (const { claim } of messages) claim.release();
}

function listen() {
  let ends = 0;
  let isSlow = false;
  const listener = new Listener(
    () => void (ends += 1),
    () => void (isSlow = true),
  );
  return { listener, ends: () => ends, isSlow: () => isSlow };
}

test('a listener gets what was passed to it before it asked, and what comes while it waits', async () => {
  const { listener } = listen();
  const [first, second] = [message(), message()];
  send([first], listener);
  const iterator = listener[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toBe(first);
  const next = iterator.next();
  send([second], listener);
  expect((await next).value).toBe(second);
});

test('a listener for which too many messages wait is ended as slow', () => {
  const room = new MemoryRoom(endless);
  const { listener, ends, isSlow } = listen();
  for (let added = 0; added < 64; added += 1) send([message(1, room)], listener);
  expect([isSlow(), room.taken]).toEqual([false, 64 * 3]);
  send([message(1, room)], listener);
  send([message(1, room)], listener);
  expect([isSlow(), ends(), room.taken]).toEqual([true, 1, 0]);
});

test('a listener for which more than 16 MiB wait when more comes is ended as slow, though one poll may bring more', async () => {
  const room = new MemoryRoom(endless);
  const [{ listener: reading, isSlow: isReadingSlow }, { listener: stuck, isSlow: isStuckSlow }] = [listen(), listen()];
  const large = Array.from({ length: 3 }, () => message(2 * 2 ** 20, room));
  send(large, reading, stuck);
  expect([isReadingSlow(), isStuckSlow(), room.taken]).toEqual([false, false, 18 * 2 ** 20]);
  const iterator = reading[Symbol.asyncIterator]();
  for (const added of large) expect((await iterator.next()).value).toBe(added);
  const last = message(1, room);
  send([last], reading, stuck);
  expect([isReadingSlow(), isStuckSlow(), room.taken]).toEqual([false, true, 3]);
  expect((await iterator.next()).value).toBe(last);
});

test('a message takes room once, however many it waits for, until the last of them has taken it', async () => {
  const room = new MemoryRoom(30);
  const [one, other] = [listen().listener, listen().listener];
  send([message(10, room)], one, other);
  expect(room.taken).toBe(30);
  await one[Symbol.asyncIterator]().next();
  expect(room.taken).toBe(30);
  other.end();
  expect(room.taken).toBe(0);
});

test('a listener for whose message there is no room is ended as slow, and others keep theirs', () => {
  const room = new MemoryRoom(30);
  const [one, other] = [listen(), listen()];
  send([message(10, room)], one.listener);
  send([message(1, room)], other.listener);
  expect([one.isSlow(), other.isSlow(), room.taken]).toEqual([false, true, 30]);
});

test('a listener that waits for a message gets it though there is no room, and only that one', async () => {
  const room = new MemoryRoom(30);
  const [full, one, other] = [listen(), listen(), listen()];
  send([message(10, room)], full.listener);
  const first = message(1, room);
  const next = one.listener[Symbol.asyncIterator]().next();
  void other.listener[Symbol.asyncIterator]().next();
  send([first], one.listener);
  send([message(1, room), message(1, room)], other.listener);
  expect([one.isSlow(), other.isSlow(), room.taken]).toEqual([false, true, 30]);
  expect((await next).value).toBe(first);
  // Its client has not taken that message yet.
  send([message(1, room)], one.listener);
  expect([one.isSlow(), room.taken]).toEqual([true, 30]);
});

test('an error ends the iteration at once: what waits is not passed on any more', async () => {
  const { listener, ends } = listen();
  send([message()], listener);
  listener.end(new Error('over'));
  await expect(listener[Symbol.asyncIterator]().next()).rejects.toThrow('over');
  expect(ends()).toBe(1);
});
