import { randomBytes } from 'node:crypto';
import { mapMaybePromise } from '../../maybe-promise.ts';
import { Refusal, UpstreamError } from '../errors.ts';
import { FairQueue, type Queued } from '../fair-queue.ts';
import type { Surface } from '../operation-ids.ts';
import type { CallBudget, Claim, Demand, Permit } from './call-budget.ts';
import type { Account, Ledger, LedgerCall, Outlooks, Want, WantDecision } from './ledger.ts';
import { type BudgetSettings, tooSmallFor } from './settings.ts';

/** Settings of the scheduler. */
export interface SchedulerOptions extends Pick<BudgetSettings, 'windows' | 'scope' | 'share' | 'agentShare'> {
  readonly ledger: Ledger;
  /** Most calls in flight. */
  readonly maxInFlight: number;
}

/** The calls that may wait, of all keys together, for each call that may be in flight. */
const queueFactor = 4;

/** The least time that a call must be able to wait, in milliseconds. With less, its deadline would pass first. */
const leastMs = 60;

/** The decision on a want if the ledger cannot be asked: it is tried again in a second. */
const unanswered: WantDecision = { kind: 'wait', turnMs: 1000, surface: 'rest' };

/** The longest time until a queue is decided anew, in milliseconds. */
const longestTimerMs = 60_000;

/** A call that waits for its place in the budget. */
interface QueuedCall extends Queued {
  /** Unique among the calls of all processes. */
  readonly id: string;
  readonly surface: Surface;
  readonly group: Group;
  readonly begin: (permit: Permit) => void;
  readonly fail: (error: Error) => void;
}

/** Calls of one operation that asked in one turn of the event loop: they begin together, or not at all. */
interface Group {
  /** The calls of the group that still wait, by id. */
  readonly calls: Map<string, QueuedCall>;
  readonly isBackground: boolean;
  /** The time until which it can wait, on the clock of the process. */
  until: number;
  hasWaited: boolean;
}

/** A group that the ledger was asked about. */
interface AskedGroup {
  readonly queue: KeyQueue;
  readonly group: Group;
  readonly want: Want;
}

/** The waiting calls of one key. */
interface KeyQueue {
  readonly key: string;
  readonly calls: FairQueue<QueuedCall>;
  /** True if the ledger has been asked and has not answered. */
  isAsked: boolean;
  /** True if the ledger is to be asked again after its answer. */
  hasNews: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gives out the calls of a budget. All calls that ask in one turn of the event loop are a wave, and the ledger is asked once
 * for all of it. A call that finds too little left waits in the queue of its key, if it can begin in time.
 */
export class BudgetScheduler implements CallBudget {
  readonly #options: SchedulerOptions;
  readonly #queues = new Map<string, KeyQueue>();
  /** The queues to ask the ledger about at the end of this turn, and the groups that form in it, by operation. */
  readonly #wave = new Set<KeyQueue>();
  readonly #forming = new Map<object, Group>();
  readonly #idPrefix = randomBytes(9).toString('base64url');
  #lastId = 0;
  #waiting = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get counting(): CallBudget['counting'] {
    return this.#options.ledger.counting;
  }

  covers(surface: Surface): boolean {
    return this.#options.windows[surface] !== undefined;
  }

  claim(demand: Demand, operation: object): Claim {
    const { surface, queueKey: caller, subject: user } = demand;
    const queue = this.#queueOf(this.#keyOf(demand.key));
    if (queue.calls.isFull(this.#options.maxInFlight * queueFactor, { caller, user }, this.#waiting)) {
      this.#forgetIdle(queue);
      return { permit: Promise.reject(new Refusal('OVERLOADED', 1)), leave: () => undefined };
    }
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    this.#askFor(queue);
    this.#lastId += 1;
    const id = `${this.#idPrefix}${this.#lastId}`;
    const call: QueuedCall = { id, caller, user, surface, group: this.#groupOf(demand, operation), begin, fail };
    call.group.calls.set(id, call);
    queue.calls.add(call);
    this.#waiting += 1;
    return { permit, leave: () => this.#fail(queue, call, new UpstreamError('OVERLOADED')) };
  }

  async look({ key, subject }: Account, asked: readonly Surface[]): Promise<Outlooks> {
    const covered = asked.filter((surface) => this.covers(surface));
    return this.#options.ledger.look({ key: this.#keyOf(key), subject }, covered);
  }

  close(): void {
    for (const { timer } of this.#queues.values()) clearTimeout(timer);
    this.#options.ledger.close?.();
  }

  #keyOf(key: string): string {
    return this.#options.scope === 'all' ? '' : key;
  }

  #queueOf(key: string): KeyQueue {
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue: KeyQueue = { key, calls: new FairQueue(), isAsked: false, hasNews: false, timer: undefined };
    this.#queues.set(key, queue);
    return queue;
  }

  #groupOf({ waitMs, isBackground }: Demand, operation: object): Group {
    const until = performance.now() + waitMs;
    const group = this.#forming.get(operation) ?? { calls: new Map(), isBackground, until, hasWaited: false };
    this.#forming.set(operation, group);
    group.until = Math.min(group.until, until);
    return group;
  }

  /** Asks the ledger after all calls of this turn have asked. */
  #askFor(queue: KeyQueue): void {
    if (this.#wave.size === 0) setImmediate(() => this.#ask());
    this.#wave.add(queue);
  }

  #ask(): void {
    const queues = [...this.#wave];
    this.#wave.clear();
    this.#forming.clear();
    const asked: AskedGroup[] = [];
    for (const queue of queues) {
      if (queue.isAsked) queue.hasNews = true;
      else if (queue.calls.size === 0) this.#forgetIdle(queue);
      else {
        queue.isAsked = true;
        for (const group of new Set(queue.calls.inOrder().map((call) => call.group)))
          asked.push({ queue, group, want: wantOf(queue, group) });
      }
    }
    if (asked.length === 0) return;
    void mapMaybePromise(this.#options.ledger.reserve(asked.map(({ want }) => want)), (decisions) => {
      const decided = asked.map((one, index) => ({ ...one, decision: decisions[index] ?? unanswered }));
      for (const [queue, groups] of Map.groupBy(decided, (one) => one.queue)) this.#hear(queue, groups);
    });
  }

  #hear(queue: KeyQueue, decided: readonly (AskedGroup & { readonly decision: WantDecision })[]): void {
    queue.isAsked = false;
    const now = performance.now();
    let again = Number.POSITIVE_INFINITY;
    for (const { decision, ...asked } of decided) {
      if (decision.kind === 'begin') {
        this.#begin(asked, decision.left);
        continue;
      }
      const { group, want } = asked;
      const leftMs = group.until - now;
      if (leftMs <= leastMs || decision.turnMs >= leftMs || group.isBackground) {
        const refusal = this.#refusalOf(want, decision);
        for (const call of group.calls.values()) this.#fail(queue, call, refusal);
        continue;
      }
      group.hasWaited = true;
      again = Math.min(again, leftMs - leastMs, decision.turnMs);
    }
    if (queue.hasNews) this.#askFor(queue);
    queue.hasNews = false;
    this.#askAgainIn(queue, again);
  }

  #askAgainIn(queue: KeyQueue, milliseconds: number): void {
    clearTimeout(queue.timer);
    this.#forgetIdle(queue);
    if (queue.calls.size === 0) return;
    queue.timer = setTimeout(() => this.#askFor(queue), Math.min(Math.ceil(milliseconds), longestTimerMs));
  }

  #forgetIdle(queue: KeyQueue): void {
    if (queue.calls.size > 0 || queue.isAsked) return;
    clearTimeout(queue.timer);
    this.#queues.delete(queue.key);
  }

  /** Lets a group begin. Reserved calls that have left meanwhile are given back. */
  #begin({ queue, group, want }: AskedGroup, left: ReadonlyMap<Surface, number>): void {
    for (const { surface, ids } of want.parts) {
      for (const id of ids) {
        const call = group.calls.get(id);
        const reserved = { id, key: want.key, subject: want.subject, surface };
        if (call === undefined) {
          this.#giveBack(reserved);
          continue;
        }
        queue.calls.served(call);
        this.#forget(call);
        call.begin({
          waited: group.hasWaited,
          left: left.get(surface) ?? 0,
          end: (how) => this.#options.ledger.end(reserved, how === 'proof'),
          giveBack: () => this.#giveBack(reserved),
        });
      }
    }
  }

  #giveBack(reserved: LedgerCall): void {
    this.#options.ledger.drop(reserved);
    const queue = this.#queues.get(reserved.key);
    if (queue !== undefined) this.#askFor(queue);
  }

  #fail(queue: KeyQueue, call: QueuedCall, error: UpstreamError): void {
    if (!queue.calls.delete(call)) return;
    this.#forget(call);
    this.#forgetIdle(queue);
    call.fail(error);
  }

  #forget(call: QueuedCall): void {
    this.#waiting -= 1;
    call.group.calls.delete(call.id);
  }

  /** The refusal of calls that cannot begin in time. */
  #refusalOf({ parts, subject }: Want, { turnMs, surface }: WantDecision & { readonly kind: 'wait' }): Refusal {
    for (const { surface: one, ids } of parts) {
      const window = tooSmallFor(ids.length, this.#options, one, subject);
      if (window !== undefined)
        return new Refusal('RATE_LIMITED', undefined, { surface: one, calls: ids.length, window });
    }
    const calls = parts.find((part) => part.surface === surface)?.ids.length ?? 0;
    const retryAfter = Math.max(1, Math.ceil(turnMs / 1000));
    return new Refusal('RATE_LIMITED', retryAfter, { surface, calls, window: undefined });
  }
}

function wantOf({ key }: KeyQueue, { calls, isBackground, hasWaited }: Group): Want {
  const [first] = calls.values();
  const parts = [...Map.groupBy(calls.values(), ({ surface }) => surface)].map(([surface, all]) => ({
    surface,
    ids: all.map(({ id }) => id),
  }));
  return { key, subject: first?.user ?? '', isBackground, holds: hasWaited, parts };
}
