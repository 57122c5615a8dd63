import { RefusedCall, type UpstreamError } from '../errors.ts';
import { FairQueue, type Queued, unproven } from '../fair-queue.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** The maximum number of calls that may wait, as a multiple of the calls that may be in flight. */
const queueFactor = 8;

/** The interval at which calls that can no longer start in time are removed from the queue, in milliseconds. */
const sweepMs = 50;

/** The time that a call must still have until its deadline when its wait for a slot ends, in milliseconds. */
const leastMs = 60;

/** A call that waits for a slot. */
export interface WaitingCall extends Queued {
  readonly attempt: Attempt;
  readonly start: () => void;
  readonly fail: (error: UpstreamError) => void;
}

/**
 * Limits the calls in flight. Parties take turns. A party may use every slot while no other waits, and otherwise half
 * of them. It may have at most half of the queue. The users of a tenant take turns in the same way, and one user has at
 * most half of the tenant's part. All unproven keys are one party. Calls that cannot start before their deadline are
 * shed.
 */
export class ConcurrencyLimiter implements Gate {
  readonly #most: number;
  readonly #queue = new FairQueue<WaitingCall>();
  /** The number of attempts with a slot. */
  inFlight = 0;
  /** Parties without a slot are left out. */
  readonly #inFlightOf = new Map<string, number>();
  /** The number of calls shed since the start. */
  sheds = 0;
  /** The recent mean duration of calls, in milliseconds. */
  meanMs = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Admits an attempt or lets it wait; an urgent one needs no free slot. Throws if the attempt is shed. */
  enter(attempt: Attempt): Promise<void> | undefined {
    const isFree = this.inFlight < this.#most && this.#queue.size === 0;
    if (!isFree && !attempt.isUrgent) return this.#wait(attempt);
    this.#begin(attempt, partyOf(attempt));
    return undefined;
  }

  leave(attempt: Attempt, outcome: Outcome): void {
    const { slot } = attempt;
    if (slot === undefined) return;
    if (typeof slot === 'string') this.#end(attempt, slot);
    else this.#remove(slot);
    if (outcome.kind !== 'not-sent') this.meanMs += (outcome.tookMs - this.meanMs) / 16;
    // A party that shared the slots until now may be the only one left. It may then use all of them.
    if (this.#queue.size > 0) this.#startWaiting();
  }

  /** Fails everything that waits. */
  flush(error: UpstreamError): void {
    for (const entry of this.#queue.inOrder()) this.#refuse(entry, error);
  }

  #wait(attempt: Attempt): Promise<void> {
    const { queueKey, subject = '' } = attempt.run.caller;
    const party = partyOf(attempt);
    const user = party === unproven ? queueKey : subject;
    const isFull = this.#queue.isFull(this.#most * queueFactor, { party, user });
    if (isFull || performance.now() + this.#expectedMs(party) > attempt.endsAt - leastMs) throw this.#shed();
    return new Promise((start, fail) => {
      const entry = { party, user, attempt, start, fail };
      this.#queue.add(entry);
      attempt.slot = entry;
      this.#sweeper ??= setInterval(() => this.#sweep(), sweepMs);
      this.#startWaiting();
    });
  }

  #begin(attempt: Attempt, party: string): void {
    attempt.slot = party;
    this.inFlight += 1;
    this.#inFlightOf.set(party, (this.#inFlightOf.get(party) ?? 0) + 1);
  }

  #end(attempt: Attempt, party: string): void {
    attempt.slot = undefined;
    this.inFlight -= 1;
    const left = (this.#inFlightOf.get(party) ?? 1) - 1;
    if (left > 0) this.#inFlightOf.set(party, left);
    else this.#inFlightOf.delete(party);
  }

  #startWaiting(): void {
    while (this.inFlight < this.#most) {
      const isAlone = this.#queue.parties === 1;
      const entry = this.#queue.next((party) => isAlone || (this.#inFlightOf.get(party) ?? 0) < this.#most / 2);
      if (entry === undefined) return;
      this.#queue.served(entry);
      this.#remove(entry);
      this.#begin(entry.attempt, entry.party);
      entry.start();
    }
  }

  /** The time that one more call of this party would wait, if calls go on taking as long as they do now. */
  #expectedMs(party: string): number {
    const before = Math.min(this.#queue.size, (this.#queue.sizeOf(party) + 1) * (this.#queue.parties + 1));
    return Math.floor(before / this.#most) * this.meanMs;
  }

  #sweep(): void {
    const soon = performance.now() + leastMs;
    for (const entry of this.#queue.inOrder()) if (entry.attempt.endsAt <= soon) this.#refuse(entry, this.#shed());
  }

  #shed(): UpstreamError {
    this.sheds += 1;
    return new RefusedCall('OVERLOADED', 1);
  }

  #refuse(entry: WaitingCall, error: UpstreamError): void {
    this.#remove(entry);
    entry.fail(error);
    this.#startWaiting();
  }

  /** Removes a call from the queue, and stops the sweep when the queue is empty. */
  #remove(entry: WaitingCall): void {
    this.#queue.delete(entry);
    entry.attempt.slot = undefined;
    if (this.#queue.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

function partyOf({ isTrial, run }: Attempt): string {
  return isTrial ? unproven : run.caller.queueKey;
}
