import { randomBytes } from 'node:crypto';
import { mapMaybePromise } from '../../maybe-promise.ts';
import { RefusedCall } from '../errors.ts';
import { FairQueue, type Queued, unproven } from '../fair-queue.ts';
import {
  type Account,
  accountOf,
  type CallLimits,
  type Ledger,
  type LedgerCall,
  type Outlook,
  type Outlooks,
  type Want,
  type WantDecision,
  type WindowLimit,
} from '../ledger.ts';
import type { Attempt, Gate, Outcome } from '../resilience/gate.ts';
import type { Surface } from '../rest-operations.ts';
import type { BudgetCounts } from './budget-counts.ts';
import { type BudgetSettings, tooSmallFor } from './settings.ts';

/** Settings and collaborators of the budget. */
export interface CallBudgetOptions extends BudgetSettings {
  readonly ledger: Ledger;
  readonly counts: BudgetCounts;
  readonly maxInFlight: number;
  /** The recent mean duration of calls, in milliseconds. */
  readonly usualMs: () => number;
}

/** The maximum number of waiting calls of all keys, as a multiple of the calls that may be in flight. */
const queueFactor = 4;

/**
 * The least time that a call must still be able to wait, in milliseconds. With less, the call is refused at once, so
 * that its deadline does not pass first.
 */
const leastMs = 60;

/** Most calls end within the recent mean duration of calls times this factor. */
const usualFactor = 1.5;

/** The decision if the ledger could not be asked: it is asked again in a second. */
const unanswered: WantDecision = { kind: 'wait', turnMs: 1000, surface: 'rest' };

/** The longest time until the ledger is asked again about a queue, in milliseconds. */
const longestTimerMs = 60_000;

/** A call that waits for the budget, or that the budget has let begin. */
export interface BudgetedCall extends Queued {
  readonly attempt: Attempt;
  readonly counted: LedgerCall;
  readonly group: Group;
  readonly begin: () => void;
  readonly fail: (error: Error) => void;
}

/** Calls of one operation that asked the budget in one turn of the event loop. They begin together, or not at all. */
interface Group {
  readonly queue: KeyQueue;
  /** The calls of the group that still wait, by id. */
  readonly calls: Map<string, BudgetedCall>;
  readonly isBackground: boolean;
  /** The time until which the group can wait, on the clock of `performance.now()`. */
  until: number;
  hasWaited: boolean;
}

interface AskedGroup {
  readonly group: Group;
  readonly want: Want;
}

interface KeyQueue {
  readonly key: string;
  readonly calls: FairQueue<BudgetedCall>;
  /** True if the ledger has been asked and has not answered. */
  isAsked: boolean;
  /** True if the ledger is to be asked again after its answer. */
  hasNews: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gives out the calls of a budget, which a ledger counts. All calls that ask in one turn of the event loop are a round,
 * about which the ledger is asked once. A call that finds too little left waits, if it can begin in time.
 */
export class CallBudget implements Gate, CallLimits {
  readonly #options: CallBudgetOptions;
  readonly #ledger: Ledger;
  readonly #queues = new Map<string, KeyQueue>();
  /** The queues to ask the ledger about at the end of this turn. */
  readonly #round = new Set<KeyQueue>();
  /** The groups that form in this turn, by operation. */
  readonly #forming = new Map<object, Group>();
  readonly #idPrefix = randomBytes(9).toString('base64url');
  #lastId = 0;
  /** The number of waiting calls of all keys. */
  #waiting = 0;
  #waitingUnproven = 0;

  constructor(options: CallBudgetOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
  }

  /** Tells the state of the counting. Undefined if no Redis counts, or if another process counts in it for this one. */
  get counting(): Ledger['counting'] {
    return this.#ledger.counting;
  }

  /** True if calls of a surface are counted at all. */
  covers(surface: Surface): boolean {
    return this.#options.windows[surface] !== undefined;
  }

  /** The window that never has room for this many calls of a subject; undefined if there is none. */
  tooSmallFor(calls: number, surface: Surface, subject: string): WindowLimit | undefined {
    return tooSmallFor(calls, this.#options, surface, subject);
  }

  /** Reads what is left of the windows of an account on these surfaces. */
  async look({ key, subject }: Account, asked: readonly Surface[]): Promise<Outlooks> {
    const covered = asked.filter((surface) => this.covers(surface));
    const outlooks = await this.#ledger.look({ key: this.#keyOf(key), subject }, covered);
    for (const [surface, logs] of outlooks) this.#options.counts.noteLeft(surface, leftIn(logs));
    return new Map([...outlooks].map(([surface, logs]) => [surface, strictest(logs)]));
  }

  /** Resolves when the attempt may begin, or rejects with a RefusedCall. Undefined if no budget counts the call. */
  enter(attempt: Attempt): Promise<void> | undefined {
    if (!this.covers(attempt.request.endpoint.surface)) return undefined;
    return new Promise((begin, fail) => this.#enqueue(attempt, begin, fail));
  }

  leave(attempt: Attempt, outcome: Outcome): void {
    const call = attempt.reserved;
    attempt.reserved = undefined;
    if (call === undefined) return;
    if (call.group.calls.has(call.counted.id)) this.#dequeue(call);
    else if (outcome.kind === 'not-sent') this.#giveBack(call.counted);
    // The upstream may still have a call that was given up, so it counts for the longest time that a call can last.
    else if (outcome.kind !== 'given-up')
      this.#ledger.end(call.counted, outcome.kind === 'answered' && outcome.provesKey ? 'proves key' : 'ended');
  }

  close(): void {
    for (const { timer } of this.#queues.values()) clearTimeout(timer);
    this.#ledger.close?.();
  }

  #keyOf(key: string): string {
    return this.#options.scope === 'all' ? '' : key;
  }

  #enqueue(attempt: Attempt, begin: () => void, fail: (error: Error) => void): void {
    const { caller, calls: operation } = attempt.run;
    const { surface } = attempt.request.endpoint;
    const { key: sharingKey, subject } = accountOf(caller);
    const key = this.#keyOf(sharingKey);
    const queue = this.#queueOf(key);
    const [party, user] = attempt.isTrial ? [unproven, caller.queueKey] : [caller.queueKey, subject];
    if (this.#isFull(queue, { party, user })) {
      this.#forgetIdle(queue);
      return fail(new RefusedCall('OVERLOADED', 1));
    }
    this.#askFor(queue);
    this.#lastId += 1;
    const counted = { id: `${this.#idPrefix}${this.#lastId}`, key, subject, surface };
    const group = this.#groupOf(attempt, operation, queue);
    const call = { party, user, attempt, counted, group, begin, fail };
    attempt.reserved = call;
    group.calls.set(counted.id, call);
    queue.calls.add(call);
    this.#waiting += 1;
    if (call.party === unproven) this.#waitingUnproven += 1;
  }

  /** True if one more call may not wait. All unproven keys together have only half of the places. */
  #isFull({ calls }: KeyQueue, place: Queued): boolean {
    const most = this.#options.maxInFlight * queueFactor;
    return calls.isFull(most, place, this.#waiting) || (place.party === unproven && this.#waitingUnproven >= most / 2);
  }

  #queueOf(key: string): KeyQueue {
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue: KeyQueue = { key, calls: new FairQueue(), isAsked: false, hasNews: false, timer: undefined };
    this.#queues.set(key, queue);
    return queue;
  }

  #groupOf(attempt: Attempt, operation: object, queue: KeyQueue): Group {
    const until = performance.now() + this.#waitMs(attempt);
    const { isBackground } = attempt;
    const group = this.#forming.get(operation) ?? { queue, calls: new Map(), isBackground, until, hasWaited: false };
    this.#forming.set(operation, group);
    group.until = Math.min(group.until, until);
    return group;
  }

  /**
   * The longest time that a call waits, in milliseconds. A read keeps enough time for a usual call, but at most half of
   * what is left. A write always keeps half, because it needs time to learn its result.
   */
  #waitMs({ endsAt, request }: Attempt): number {
    const leftMs = endsAt - performance.now();
    if (request.isWrite) return leftMs / 2;
    return leftMs - Math.min(leftMs / 2, usualFactor * this.#options.usualMs());
  }

  /** Asks the ledger about a queue once all calls of this turn have joined it. */
  #askFor(queue: KeyQueue): void {
    if (this.#round.size === 0) setImmediate(() => this.#ask());
    this.#round.add(queue);
  }

  #ask(): void {
    const queues = [...this.#round];
    this.#round.clear();
    this.#forming.clear();
    const asked: AskedGroup[] = [];
    for (const queue of queues) {
      if (queue.isAsked) queue.hasNews = true;
      else if (queue.calls.size === 0) this.#forgetIdle(queue);
      else {
        queue.isAsked = true;
        for (const group of new Set(queue.calls.inOrder().map((call) => call.group)))
          asked.push({ group, want: wantOf(group) });
      }
    }
    if (asked.length === 0) return;
    void mapMaybePromise(this.#ledger.reserve(asked.map(({ want }) => want)), (decisions) => {
      const decided = asked.map((one, index) => ({ ...one, decision: decisions[index] ?? unanswered }));
      for (const [queue, groups] of Map.groupBy(decided, ({ group }) => group.queue)) this.#apply(queue, groups);
    });
  }

  #apply(queue: KeyQueue, decided: readonly (AskedGroup & { readonly decision: WantDecision })[]): void {
    queue.isAsked = false;
    const now = performance.now();
    let again = longestTimerMs;
    for (const { decision, group, want } of decided) {
      if (decision.kind === 'begin') {
        this.#begin(group, want);
        continue;
      }
      const leftMs = group.until - now;
      if (leftMs <= leastMs || decision.turnMs >= leftMs || group.isBackground) {
        this.#refuse(group, this.#refusalOf(want, decision));
        continue;
      }
      group.hasWaited = true;
      again = Math.min(again, leftMs - leastMs, decision.turnMs);
    }
    if (queue.hasNews) this.#askFor(queue);
    queue.hasNews = false;
    clearTimeout(queue.timer);
    this.#forgetIdle(queue);
    if (queue.calls.size > 0) queue.timer = setTimeout(() => this.#askFor(queue), Math.ceil(again));
  }

  /** Lets a group begin. Calls that have left meanwhile are given back. */
  #begin(group: Group, { key, subject, bySurface }: Want): void {
    for (const { surface, ids } of bySurface) {
      for (const id of ids) {
        const call = group.calls.get(id);
        if (call === undefined) {
          this.#giveBack({ id, key, subject, surface });
          continue;
        }
        group.queue.calls.served(call);
        this.#forget(call);
        if (group.hasWaited) this.#options.counts.waited(surface);
        call.begin();
      }
    }
  }

  #refuse(group: Group, refusal: RefusedCall): void {
    for (const call of group.calls.values()) {
      this.#dequeue(call);
      call.attempt.reserved = undefined;
      // A client's operation has joined this call, which may now use the share that is closed to background calls.
      if (group.isBackground && !call.attempt.isBackground) this.#enqueue(call.attempt, call.begin, call.fail);
      else call.fail(refusal);
    }
  }

  #giveBack(counted: LedgerCall): void {
    this.#ledger.end(counted, 'not sent');
    const queue = this.#queues.get(counted.key);
    if (queue !== undefined) this.#askFor(queue);
  }

  #dequeue(call: BudgetedCall): void {
    const { queue } = call.group;
    queue.calls.delete(call);
    this.#forget(call);
    this.#forgetIdle(queue);
  }

  #forget({ party, counted, group }: BudgetedCall): void {
    this.#waiting -= 1;
    if (party === unproven) this.#waitingUnproven -= 1;
    group.calls.delete(counted.id);
  }

  #forgetIdle(queue: KeyQueue): void {
    if (queue.calls.size > 0 || queue.isAsked || this.#round.has(queue)) return;
    clearTimeout(queue.timer);
    // A call that was refused in the background and tried again may have begun another queue.
    if (this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key);
  }

  #refusalOf({ bySurface, subject }: Want, { turnMs, surface }: WantDecision & { readonly kind: 'wait' }): RefusedCall {
    for (const { surface: one, ids } of bySurface) {
      const window = this.tooSmallFor(ids.length, one, subject);
      if (window !== undefined)
        return new RefusedCall('RATE_LIMITED', undefined, { surface: one, calls: ids.length, window });
    }
    const calls = bySurface.find((part) => part.surface === surface)?.ids.length ?? 0;
    const retryAfter = Math.max(1, Math.ceil(turnMs / 1000));
    return new RefusedCall('RATE_LIMITED', retryAfter, { surface, calls, window: undefined });
  }
}

function wantOf({ queue: { key }, calls, isBackground, hasWaited }: Group): Want {
  const [first] = calls.values();
  const bySurface = [...Map.groupBy(calls.values(), ({ counted }) => counted.surface)].map(([surface, all]) => ({
    surface,
    ids: all.map(({ counted }) => counted.id),
  }));
  return { key, subject: first?.counted.subject ?? '', isBackground, holdsPlaces: hasWaited, bySurface };
}

/** The windows of all logs that count a call, combined. The log that allows least decides. */
function strictest([all = [], ...others]: readonly Outlook[]): Outlook {
  return all.map((window, index) => {
    const both = [window, ...others.flatMap((other) => other[index] ?? [])];
    return {
      ms: window.ms,
      limit: Math.min(...both.map(({ limit }) => limit)),
      remaining: Math.min(...both.map(({ remaining }) => remaining)),
      resetsInMs: Math.max(...both.map(({ resetsInMs }) => resetsInMs)),
    };
  });
}

/** The share that is left of the scarcest of these windows, from 0 to 1; 1 if there is none. */
function leftIn(outlooks: readonly Outlook[]): number {
  return Math.min(1, ...outlooks.flat().map(({ remaining, limit }) => remaining / limit));
}
