import type { UpstreamError } from './errors.ts';
import { isOverdue, type Lifetime } from './lifetime.ts';

/** Starts the work that a flight shares. */
export type Departure<T> = (flight: Flight) => Work<T>;

/** Work under way. */
export interface Work<T> {
  readonly result: Promise<T>;
  /** Nobody waits for it any more. */
  readonly cancel: () => void;
  /** The deadline of somebody who waited for it has passed. */
  readonly overdue: () => void;
}

/** What the work of a flight may ask about its passengers. */
export interface Flight {
  /** When the most patient of them gives up, on the clock of `performance.now()`. */
  lastsUntil: number;
}

interface Shared<T> extends Flight, Work<T> {
  readonly startedAt: number;
  passengers: number;
}

/** Nobody joins a flight that has been under way for so long: its call may be one that is never answered. */
const boardingMs = 1000;

/**
 * Single flight: equal reads in flight under the same caller are one call, across operations. The last passenger to
 * leave cancels it; one that leaves early harms no other. Entries live as long as their call.
 */
export class Flights<T> {
  readonly #byCaller = new Map<string, Map<string, Shared<T>>>();
  #joined = 0;

  /** How often a flight was joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** Joins the flight of (caller, name), or starts it. Fails with the lifetime's error when that ends first. */
  board(caller: string, name: string, lifetime: Lifetime, depart: Departure<T>): Promise<T> {
    const flights = this.#flightsOf(caller);
    const flying = this.#boarding(flights.get(name));
    if (flying !== undefined) this.#joined += 1;
    const flight = flying ?? this.#start(caller, name, flights, depart, lifetime);
    flight.lastsUntil = Math.max(flight.lastsUntil, lifetime.endsAt);
    flight.passengers += 1;
    return seat(flight, lifetime, (error) => this.#leave(caller, name, flight, error));
  }

  /** Whether a read of (caller, name) would join a flight. */
  isBoarding(caller: string, name: string): boolean {
    return this.#boarding(this.#byCaller.get(caller)?.get(name)) !== undefined;
  }

  /** No read joins one that began before now: a caller reads its own writes. Those on board stay. */
  ground(caller: string): void {
    this.#byCaller.delete(caller);
  }

  #boarding(flight: Shared<T> | undefined): Shared<T> | undefined {
    return flight !== undefined && performance.now() - flight.startedAt < boardingMs ? flight : undefined;
  }

  #flightsOf(caller: string): Map<string, Shared<T>> {
    const flying = this.#byCaller.get(caller);
    if (flying !== undefined) return flying;
    const flights = new Map<string, Shared<T>>();
    this.#byCaller.set(caller, flights);
    return flights;
  }

  #start(
    caller: string,
    name: string,
    flights: Map<string, Shared<T>>,
    depart: Departure<T>,
    lifetime: Lifetime,
  ): Shared<T> {
    const flight = { lastsUntil: lifetime.endsAt, passengers: 0, startedAt: performance.now() };
    const shared: Shared<T> = Object.assign(flight, depart(flight));
    flights.set(name, shared);
    const land = (): void => this.#forget(caller, name, shared);
    shared.result.then(land, land);
    return shared;
  }

  #leave(caller: string, name: string, flight: Shared<T>, error: UpstreamError): void {
    flight.passengers -= 1;
    if (isOverdue(error)) flight.overdue();
    if (flight.passengers > 0) return;
    this.#forget(caller, name, flight);
    flight.cancel();
  }

  #forget(caller: string, name: string, flight: Shared<T>): void {
    const flights = this.#byCaller.get(caller);
    if (flights?.get(name) !== flight) return;
    flights.delete(name);
    if (flights.size === 0) this.#byCaller.delete(caller);
  }
}

/** One passenger's view of a flight: its result, or the end of the passenger's own lifetime. */
function seat<T>(flight: Shared<T>, lifetime: Lifetime, leave: (error: UpstreamError) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = lifetime.onEnd((error: UpstreamError) => {
      reject(error);
      leave(error);
    });
    flight.result.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}
