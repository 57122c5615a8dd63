import type { TraceContext } from './call-spans.ts';
import { isUnauthenticated, noRoomForBodies, type UpstreamError } from './errors.ts';
import { isOverdue, type Lifetime, type LifetimeListener } from './operation-deadline.ts';
import type { KeptBody } from './transport/body-room.ts';

/** Work under way. */
export interface Work {
  /** Nobody waits for it any more. */
  readonly cancel: () => void;
  /** The deadline of somebody who waited for it has passed. */
  readonly overdue: () => void;
  /** What names its span, where somebody traces. */
  readonly trace?: TraceContext | undefined;
}

/** Starts the work that a flight shares; the work lands or crashes the flight, and not before this has returned. */
export type Departure<T> = (flight: Flight<T>) => Work;

/** Nobody joins a flight that has been under way for so long: its call may be one that is never answered. */
const boardingMs = 1000;

/**
 * Single flight: equal reads in flight under the same caller are one call, across operations. The last passenger to
 * leave cancels it; one that leaves early harms no other. Entries live as long as their call.
 */
export class Flights<T> {
  readonly #byCaller = new Map<string, Map<string, Flight<T>>>();
  #joined = 0;

  /** How often a flight was joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** The flight that a read of (caller, name) may join. */
  boarding(caller: string, name: string): Flight<T> | undefined {
    const flight = this.#byCaller.get(caller)?.get(name);
    return flight !== undefined && performance.now() - flight.startedAt < boardingMs ? flight : undefined;
  }

  /** Joins a flight. Fails with the lifetime's error when that ends first. */
  join(flight: Flight<T>, lifetime: Lifetime): Promise<T> {
    this.#joined += 1;
    return flight.board(lifetime);
  }

  /** Starts the flight of (caller, name). Fails with the lifetime's error when that ends first. */
  start(caller: string, name: string, lifetime: Lifetime, depart: Departure<T>): Promise<T> {
    const flight = new Flight<T>(lifetime.endsAt, () => this.#forget(caller, name, flight));
    const flights = this.#byCaller.get(caller);
    if (flights === undefined) this.#byCaller.set(caller, new Map([[name, flight]]));
    else flights.set(name, flight);
    const landing = flight.board(lifetime);
    flight.depart(depart);
    return landing;
  }

  /** No read joins one that began before now: a caller reads its own writes. Those on board stay. */
  ground(caller: string): void {
    this.#byCaller.delete(caller);
  }

  #forget(caller: string, name: string, flight: Flight<T>): void {
    const flights = this.#byCaller.get(caller);
    if (flights?.get(name) !== flight) return;
    flights.delete(name);
    if (flights.size === 0) this.#byCaller.delete(caller);
  }
}

/** One read under way and those who wait for it. */
export class Flight<T> {
  /** When the most patient of them gives up, on the clock of `performance.now()`. */
  lastsUntil: number;
  readonly startedAt = performance.now();
  // Both are let go at the end: a map that has grown keeps entries that were deleted before alive for a while.
  #passengers: Passenger<T>[] = [];
  #work: Work | undefined;
  readonly #forget: () => void;

  constructor(lastsUntil: number, forget: () => void) {
    this.lastsUntil = lastsUntil;
    this.#forget = forget;
  }

  /** What names the span of the call under way, where somebody traces. */
  get trace(): TraceContext | undefined {
    return this.#work?.trace;
  }

  /** Takes another passenger on board. */
  board(lifetime: Lifetime): Promise<T> {
    if (lifetime.endsAt > this.lastsUntil) this.lastsUntil = lifetime.endsAt;
    return new Promise((resolve, reject) => {
      const passenger = new Passenger(this, lifetime, resolve, reject);
      this.#passengers.push(passenger);
      lifetime.onEnd(passenger);
    });
  }

  /** Starts the work. */
  depart(depart: Departure<T>): void {
    this.#work = depart(this);
  }

  /** The passengers keep what they wait for; false where none of them may. Those that may not leave. */
  keep(body: KeptBody, limit: number): boolean {
    for (const { lifetime } of [...this.#passengers]) lifetime.keep(body, limit);
    return this.#passengers.length > 0;
  }

  /** The work is done; `size` is the number of characters that the value was read from. */
  land(value: T, size: number): void {
    for (const passenger of this.#end()) passenger.arrive(value, size);
  }

  /**
   * The work has failed. Where the upstream does not know the key, so would all else that the passengers read; where there
   * is no room for what they read, they give back what they have.
   */
  crash(error: unknown): void {
    const passengers = this.#end();
    for (const passenger of passengers) passenger.fail(error);
    if (endsOperations(error)) for (const { lifetime } of passengers) lifetime.fail(error);
  }

  /** A passenger's operation has ended. */
  leave(passenger: Passenger<T>, error: UpstreamError): void {
    if (isOverdue(error)) for (let left = passenger.operations; left > 0; left -= 1) this.#work?.overdue();
    this.#passengers.splice(this.#passengers.indexOf(passenger), 1);
    if (this.#passengers.length > 0) return;
    const work = this.#work;
    this.#end();
    work?.cancel();
  }

  #end(): readonly Passenger<T>[] {
    const passengers = this.#passengers;
    this.#passengers = [];
    this.#work = undefined;
    this.#forget();
    return passengers;
  }
}

/** Whether all that an operation reads fails once one read of it has failed so. */
function endsOperations(error: unknown): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies;
}

/** One who waits for a flight. */
class Passenger<T> implements LifetimeListener {
  settled = false;
  readonly #flight: Flight<T>;
  readonly lifetime: Lifetime;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;

  constructor(flight: Flight<T>, lifetime: Lifetime, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#flight = flight;
    this.lifetime = lifetime;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get operations(): number {
    return this.lifetime.operations;
  }

  arrive(value: T, size: number): void {
    this.settled = true;
    this.lifetime.received += size;
    this.#resolve(value);
  }

  fail(error: unknown): void {
    this.settled = true;
    this.#reject(error);
  }

  ended(error: UpstreamError): void {
    this.fail(error);
    this.#flight.leave(this, error);
  }
}
