import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MemoryRoom, type Reader } from '../../src/memory.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The client of an answer, and what has become of it. */
class Client implements Reader {
  readonly stuckSince: number | undefined;
  readonly pausesUntil: number;
  isCut = false;
  close: () => void = () => undefined;

  constructor(stuckForMs?: number, pauseMs = 0) {
    this.stuckSince = stuckForMs === undefined ? undefined : performance.now() - stuckForMs;
    this.pausesUntil = (this.stuckSince ?? 0) + pauseMs;
  }

  onClose(listener: () => void): void {
    this.close = listener;
  }

  disconnect(): void {
    this.isCut = true;
    this.close();
  }
}

test('if a room is short, the clients that have been stuck for longest are ended, until there is enough', () => {
  let ended = 0;
  const process = new MemoryRoom(1000, { onDisconnect: () => void (ended += 1) });
  const room = new MemoryRoom(100, { within: process });
  const clients = [new Client(2000), new Client(), new Client(4000), new Client(3000), new Client(999)];
  for (const client of clients) expect(room.claimFor(client).resize(20)).toBe(true);
  expect(room.claim().resize(40)).toBe(true);
  expect(clients.map(({ isCut }) => isCut)).toEqual([false, false, true, true, false]);
  expect([room.taken, process.taken, ended]).toEqual([100, 100, 2]);
  expect(room.claim().resize(20)).toBe(true);
  expect(clients.map(({ isCut }) => isCut)).toEqual([true, false, true, true, false]);
});

test('of stuck clients, the one whose earned pause ends first is ended first, and none is spared by its pause', () => {
  const room = new MemoryRoom(100);
  const clients = [new Client(3000, 8000), new Client(2000), new Client(999)];
  for (const client of clients) expect(room.claimFor(client).resize(30)).toBe(true);
  expect(room.claim().resize(40)).toBe(true);
  expect(clients.map(({ isCut }) => isCut)).toEqual([false, true, false]);
  expect(room.claim().resize(30)).toBe(true);
  expect(clients.map(({ isCut }) => isCut)).toEqual([true, true, false]);
});

test('no client is ended for a claim that would have no room after it either', () => {
  let ended = 0;
  const room = new MemoryRoom(100, { onDisconnect: () => void (ended += 1) });
  const clients = [new Client(2000), new Client(3000), new Client()];
  for (const client of clients) expect(room.claimFor(client).resize(30)).toBe(true);
  expect([room.claim().resize(71), ended, room.taken]).toEqual([false, 0, 90]);
  expect([room.claim().resize(70), ended, room.taken]).toEqual([true, 2, 100]);
  expect(clients.map(({ isCut }) => isCut)).toEqual([true, true, false]);
});

test('if the process is short, stuck clients of any of its rooms are ended, but not for the sake of a room without them', () => {
  const process = new MemoryRoom(100);
  const [answers, bodies] = [new MemoryRoom(80, { within: process }), new MemoryRoom(50, { within: process })];
  const [one, other] = [new Client(2000), new Client(1500)];
  for (const client of [one, other]) expect(answers.claimFor(client).resize(30)).toBe(true);
  expect(bodies.claim().resize(51)).toBe(false);
  expect([one.isCut, other.isCut]).toEqual([false, false]);
  expect(bodies.claim().resize(50)).toBe(true);
  expect([one.isCut, other.isCut, answers.taken, process.taken]).toEqual([true, false, 30, 80]);
});

test('no client is ended for a room that has enough, if the process around it would then refuse', () => {
  const process = new MemoryRoom(100);
  const [answers, bodies] = [new MemoryRoom(50, { within: process }), new MemoryRoom(60, { within: process })];
  const client = new Client(2000);
  expect(answers.claimFor(client).resize(40)).toBe(true);
  expect(bodies.claim().resize(60)).toBe(true);
  // Ending the client would make room in `answers`, and not enough in `process`.
  expect([answers.claim().resize(50), client.isCut, process.taken]).toEqual([false, false, 100]);
  expect([answers.claim().resize(40), client.isCut, process.taken]).toEqual([true, true, 100]);
});

test('a claim is let go of once, by the last of its holders, and needs nothing afterwards', () => {
  const room = new MemoryRoom(100);
  const claim = room.claim();
  expect([claim.resize(60), claim.resize(40), claim.resize(101), claim.bytes]).toEqual([true, true, false, 40]);
  claim.hold();
  claim.release();
  expect(room.taken).toBe(40);
  claim.release();
  claim.release();
  expect([claim.resize(1000), claim.bytes, room.taken]).toEqual([true, 0, 0]);
});

test('an answer gives its room back when its client has it', () => {
  const room = new MemoryRoom(100);
  const client = new Client(5000);
  expect(room.claimFor(client).resize(100)).toBe(true);
  client.close();
  expect([room.taken, room.claim().resize(100), client.isCut]).toEqual([0, true, false]);
});
