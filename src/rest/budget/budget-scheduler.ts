import { UpstreamError } from '../errors.ts';
import type { Surface } from '../operation-ids.ts';
import type { CallBudget, Claim, Demand, Needs, Outlooks, Permit } from './call-budget.ts';
import { FairQueue, type QueuedCall, wantedBy } from './fair-queue.ts';
import type { Account, Ledger, Outlook, Verdict } from './ledger.ts';
import { type BudgetSettings, surfaces } from './settings.ts';

/** Settings of the scheduler. */
export interface SchedulerOptions extends Pick<BudgetSettings, 'windows' | 'scope'> {
  readonly ledger: Ledger;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /**
   * Most calls that wait, of all keys together. Of them one caller has at most a half, one user of a tenant a quarter, and
   * all keys without a success together a quarter: keys can be invented.
   */
  readonly mostWaiting: number;
  readonly counting?: CallBudget['counting'];
  readonly close?: () => void;
}

/** A call that cannot wait longer than this is not let wait, in milliseconds: its deadline would pass first. */
const leastMs = 60;

/** When to come back for a call of which it is not known when it can be had, in milliseconds. */
const unknownTurnMs = 3_600_000;

/** Longest time until a queue is looked at again, in milliseconds. */
const longestTimerMs = 60_000;

/**
 * Gives out the calls of a budget. What is asked for in one turn of the event loop is a wave, and the ledger is asked once
 * for all of it. What finds nothing left waits in the queue of its account if its turn comes in time.
 */
export class BudgetScheduler implements CallBudget {
  readonly #options: SchedulerOptions;
  readonly #queues = new Map<string, FairQueue>();
  /** Queues to ask the ledger for at the end of this turn. */
  readonly #wave = new Set<FairQueue>();
  #waiting = 0;
  #awaitingProof = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get counting(): CallBudget['counting'] {
    return this.#options.counting;
  }

  covers(surface: Surface): boolean {
    return this.#options.windows[surface] !== undefined;
  }

  claim(demand: Demand): Claim {
    const queue = this.#queueOf({ key: this.#keyOf(demand.key), surface: demand.surface });
    if (this.#isFull(queue, demand)) {
      this.#forgetIdle(queue);
      return { permit: Promise.reject(crowded()), leave: () => undefined };
    }
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    const until = this.#options.now() + demand.waitMs;
    const call: QueuedCall = { demand, user: demand.subject, until, hasWaited: false, awaitsProof: false, begin, fail };
    queue.add(call);
    this.#waiting += 1;
    this.#askFor(queue);
    return { permit, leave: () => this.#fail(queue, call, new UpstreamError('OVERLOADED')) };
  }

  look({ key, subject }: Pick<Demand, 'key' | 'subject'>, needs: Needs): Promise<Outlooks> | Outlooks {
    const asked = surfaces.filter((surface) => needs[surface] !== undefined && this.covers(surface));
    const questions = asked.map((surface) => {
      const account = { key: this.#keyOf(key), surface };
      const waiting = this.#queues.get(nameOf(account))?.size ?? 0;
      const count = needs[surface] ?? 0;
      return { account, subject, count: count === 0 ? 0 : count + waiting };
    });
    const name = (outlooks: readonly Outlook[]): Outlooks =>
      new Map(outlooks.map((outlook, index) => [asked[index] ?? 'rest', outlook]));
    const looked = this.#options.ledger.look(questions);
    return looked instanceof Promise ? looked.then(name) : name(looked);
  }

  /** More may be had than was thought: those that wait are decided anew. */
  askAgain(): void {
    for (const queue of this.#queues.values()) this.#askFor(queue);
  }

  close(): void {
    for (const { timer } of this.#queues.values()) clearTimeout(timer);
    this.#options.close?.();
  }

  #isFull(queue: FairQueue, { queueKey, subject }: Demand): boolean {
    const { mostWaiting } = this.#options;
    if (this.#waiting >= mostWaiting || queue.sizeOf(queueKey) >= mostWaiting / 2) return true;
    return subject !== '' && queue.sizeOf(queueKey, subject) >= mostWaiting / 4;
  }

  /** Lets a call wait until its key is proven; false if too many do. */
  #awaitProof(call: QueuedCall): boolean {
    if (call.awaitsProof) return true;
    if (this.#awaitingProof >= this.#options.mostWaiting / 4) return false;
    call.awaitsProof = true;
    this.#awaitingProof += 1;
    return true;
  }

  /** A call waits no more. */
  #forget(call: QueuedCall): void {
    this.#waiting -= 1;
    if (call.awaitsProof) this.#awaitingProof -= 1;
  }

  #keyOf(key: string): string {
    return this.#options.scope === 'all' ? '' : key;
  }

  #queueOf(account: Account): FairQueue {
    const name = nameOf(account);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = new FairQueue(account);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Once all of this turn have asked. */
  #askFor(queue: FairQueue): void {
    if (this.#wave.size === 0) setImmediate(() => this.#ask());
    this.#wave.add(queue);
  }

  #ask(): void {
    const queues = [...this.#wave];
    this.#wave.clear();
    for (const queue of queues) {
      if (queue.isAsked) queue.hasNews = true;
      else this.#forgetIdle(queue);
    }
    const asked = queues
      .filter(({ isAsked, size }) => !isAsked && size > 0)
      .map((queue) => ({ queue, calls: queue.inOrder() }));
    for (const { queue } of asked) queue.isAsked = true;
    const wants = asked.map(({ queue, calls }) => ({ account: queue.account, calls: calls.map(wantedBy) }));
    const hear = (verdicts: readonly (readonly Verdict[])[]): void =>
      asked.forEach(({ queue, calls }, index) => this.#hear(queue, calls, verdicts[index] ?? []));
    if (wants.length === 0) return;
    const reserved = this.#options.ledger.reserve(wants);
    if (reserved instanceof Promise) void reserved.then(hear);
    else hear(reserved);
  }

  #hear(queue: FairQueue, calls: readonly QueuedCall[], verdicts: readonly Verdict[]): void {
    queue.isAsked = false;
    queue.waitsForProof = false;
    const now = this.#options.now();
    let again = Number.POSITIVE_INFINITY;
    calls.forEach((call, index) => {
      const verdict = verdicts[index] ?? never;
      if (verdict.kind === 'begin') return this.#begin(queue, call, verdict);
      if (!queue.has(call)) return;
      const turnMs = verdict.kind === 'wait' ? verdict.turnMs : 0;
      const leftMs = call.until - now;
      if (leftMs <= leastMs || turnMs >= leftMs || call.demand.isBackground)
        return this.#fail(queue, call, rateLimited(turnMs));
      if (verdict.kind === 'prove' && !this.#awaitProof(call)) return this.#fail(queue, call, crowded());
      call.hasWaited = true;
      if (verdict.kind === 'prove') queue.waitsForProof = true;
      again = Math.min(again, leftMs - leastMs, verdict.kind === 'wait' ? Math.max(1, turnMs) : leftMs);
    });
    if (queue.hasNews) this.#askFor(queue);
    queue.hasNews = false;
    this.#askAgainIn(queue, again);
  }

  #askAgainIn(queue: FairQueue, milliseconds: number): void {
    clearTimeout(queue.timer);
    this.#forgetIdle(queue);
    if (queue.size === 0) return;
    queue.timer = setTimeout(() => this.#askFor(queue), Math.min(Math.ceil(milliseconds), longestTimerMs));
  }

  #forgetIdle(queue: FairQueue): void {
    if (queue.size > 0 || queue.isAsked) return;
    clearTimeout(queue.timer);
    this.#queues.delete(nameOf(queue.account));
  }

  #begin(queue: FairQueue, call: QueuedCall, { call: counted }: Verdict & { readonly kind: 'begin' }): void {
    const { ledger } = this.#options;
    const { account } = queue;
    // It has left while the ledger was asked.
    if (!queue.has(call)) return ledger.drop(account, counted);
    queue.begin(call);
    this.#forget(call);
    call.begin({
      waited: call.hasWaited,
      end: (how) => {
        if (how !== 'given up') ledger.end([{ account, call: counted, isSuccess: how === 'success' }]);
        this.#answered(account.key);
      },
      giveBack: () => {
        ledger.drop(account, counted);
        this.#answered(account.key);
        this.#askWaiting(account);
      },
    });
  }

  /** An answer may have proven the key. */
  #answered(key: string): void {
    for (const surface of surfaces) {
      const queue = this.#queues.get(nameOf({ key, surface }));
      if (queue?.waitsForProof === true) this.#askFor(queue);
    }
  }

  #askWaiting(account: Account): void {
    const queue = this.#queues.get(nameOf(account));
    if (queue !== undefined) this.#askFor(queue);
  }

  #fail(queue: FairQueue, call: QueuedCall, error: UpstreamError): void {
    if (!queue.has(call)) return;
    queue.delete(call);
    this.#forget(call);
    this.#forgetIdle(queue);
    call.fail(error);
  }
}

const never: Verdict = { kind: 'wait', turnMs: Number.POSITIVE_INFINITY };

/** Too many calls wait. */
function crowded(): UpstreamError {
  return new UpstreamError('OVERLOADED', { retryAfter: 1 });
}

/** No call can be had in time; `turnMs` is when one could be, infinite if that is not known. */
function rateLimited(turnMs: number): UpstreamError {
  const laterMs = Number.isFinite(turnMs) ? turnMs : unknownTurnMs;
  return new UpstreamError('RATE_LIMITED', { retryAfter: Math.max(1, Math.ceil(laterMs / 1000)) });
}

function nameOf({ key, surface }: Account): string {
  return `${surface} ${key}`;
}
