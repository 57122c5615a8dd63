import { mapMaybePromise } from '../../maybe-promise.ts';
import { type BudgetShortage, Refusal, UpstreamError } from '../errors.ts';
import { FairQueue, type Queued } from '../fair-queue.ts';
import type { Surface } from '../operation-ids.ts';
import type { CallBudget, Claim, Demand, Outlooks, Permit } from './call-budget.ts';
import { type AccountCall, type Counts, type Ledger, never, type Want, type WantDecision } from './ledger.ts';
import { type BudgetSettings, type BudgetWindow, partsOf, percentOf, shareOf } from './settings.ts';

/** Settings of the scheduler. */
export interface SchedulerOptions extends Pick<BudgetSettings, 'windows' | 'scope' | 'share' | 'agentShare'> {
  readonly ledger: Ledger;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Most calls that wait, of all keys together. */
  readonly mostWaiting: number;
  readonly counting?: CallBudget['counting'];
  readonly close?: () => void;
}

/** The least time that a call must be able to wait, in milliseconds. With less, its deadline would pass first. */
const leastMs = 60;

/** The `Retry-After` of a call whose time is not known, in milliseconds. */
const unknownTurnMs = 3_600_000;

/** The longest time until a queue is decided anew, in milliseconds. */
const longestTimerMs = 60_000;

/** A call that waits for its place in the budget. */
interface QueuedCall extends Queued {
  readonly surface: Surface;
  readonly group: Group;
  readonly begin: (permit: Permit) => void;
  readonly fail: (error: Error) => void;
}

/** Calls of one operation that asked in one turn of the event loop: they begin together, or not at all. */
interface Group {
  readonly calls: Set<QueuedCall>;
  readonly isBackground: boolean;
  /** The time until which it can wait, on the clock of the scheduler. */
  until: number;
  hasWaited: boolean;
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
  #waiting = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get counting(): CallBudget['counting'] {
    return this.#options.counting;
  }

  covers(surface: Surface): boolean {
    return this.#options.windows[surface] !== undefined;
  }

  claim(demand: Demand, operation: object): Claim {
    const { surface, queueKey: caller, subject: user } = demand;
    const queue = this.#queueOf(this.#keyOf(demand.key));
    if (queue.calls.isFull(this.#options.mostWaiting, { caller, user }, this.#waiting)) {
      this.#forgetIdle(queue);
      return { permit: Promise.reject(new Refusal('OVERLOADED', 1)), leave: () => undefined };
    }
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    this.#askFor(queue);
    const call: QueuedCall = { caller, user, surface, group: this.#groupOf(demand, operation), begin, fail };
    call.group.calls.add(call);
    queue.calls.add(call);
    this.#waiting += 1;
    return { permit, leave: () => this.#fail(queue, call, new UpstreamError('OVERLOADED')) };
  }

  async look({ key, subject }: Pick<Demand, 'key' | 'subject'>, asked: readonly Surface[]): Promise<Outlooks> {
    const covered = asked.filter((surface) => this.covers(surface));
    const questions = covered.map((surface) => ({ account: { key: this.#keyOf(key), surface }, subject }));
    const outlooks = await this.#options.ledger.look(questions);
    return new Map(covered.map((surface, index) => [surface, outlooks[index] ?? []]));
  }

  /** Decides waiting calls anew, because more calls may be available. */
  askAgain(): void {
    for (const queue of this.#queues.values()) this.#askFor(queue);
  }

  close(): void {
    for (const { timer } of this.#queues.values()) clearTimeout(timer);
    this.#options.close?.();
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
    const until = this.#options.now() + waitMs;
    const group = this.#forming.get(operation) ?? { calls: new Set(), isBackground, until, hasWaited: false };
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
    const asked: { readonly queue: KeyQueue; readonly group: Group; readonly want: Want }[] = [];
    for (const queue of queues) {
      if (queue.isAsked) queue.hasNews = true;
      else if (queue.calls.size === 0) this.#forgetIdle(queue);
      else {
        queue.isAsked = true;
        const groups = new Set(queue.calls.inOrder().map(({ group }) => group));
        for (const group of groups) asked.push({ queue, group, want: wantOf(queue, group) });
      }
    }
    if (asked.length === 0) return;
    void mapMaybePromise(this.#options.ledger.reserve(asked.map(({ want }) => want)), (verdicts) => {
      for (const queue of new Set(asked.map((one) => one.queue))) {
        this.#hear(
          queue,
          asked.flatMap((one, index) => (one.queue === queue ? [{ ...one, verdict: verdicts[index] ?? never }] : [])),
        );
      }
    });
  }

  #hear(
    queue: KeyQueue,
    decided: readonly { readonly group: Group; readonly want: Want; readonly verdict: WantDecision }[],
  ): void {
    queue.isAsked = false;
    const now = this.#options.now();
    let again = Number.POSITIVE_INFINITY;
    for (const { group, want, verdict } of decided) {
      if (verdict.kind === 'begin') {
        this.#begin(queue, group, verdict.calls, verdict.left);
        continue;
      }
      const leftMs = group.until - now;
      if (leftMs <= leastMs || verdict.turnMs >= leftMs || group.isBackground) {
        const refusal = this.#refusalOf(want, verdict);
        for (const call of group.calls) this.#fail(queue, call, refusal);
        continue;
      }
      group.hasWaited = true;
      // A group that would fit waits for those before it.
      again = Math.min(again, leftMs - leastMs, verdict.turnMs > 0 ? Math.max(1, verdict.turnMs) : leftMs);
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
  #begin(queue: KeyQueue, group: Group, counted: readonly AccountCall[], left: Counts): void {
    const { ledger } = this.#options;
    const begun = [...counted];
    for (const waiting of [...group.calls]) {
      const { surface } = waiting;
      const one = begun.find(({ account }) => account.surface === surface);
      if (one === undefined) return;
      begun.splice(begun.indexOf(one), 1);
      queue.calls.served(waiting);
      this.#forget(waiting);
      waiting.begin({
        waited: group.hasWaited,
        left: left[surface] ?? 0,
        end: (how) => {
          if (how !== 'given up') ledger.end([{ ...one, provesKey: how === 'proof' }]);
        },
        giveBack: () => this.#giveBack(one),
      });
    }
    for (const one of begun) this.#giveBack(one);
  }

  #giveBack({ account, call }: AccountCall): void {
    this.#options.ledger.drop(account, call);
    const queue = this.#queues.get(account.key);
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
    call.group.calls.delete(call);
  }

  /** The refusal of calls that cannot begin in time. */
  #refusalOf({ counts, subject }: Want, { turnMs, surface }: WantDecision & { readonly kind: 'wait' }): Refusal {
    const tooMany = partsOf(counts).flatMap(([one, count]): readonly BudgetShortage[] => {
      const window = this.#windowsOf(one, subject).find(({ limit }) => count > limit);
      return window === undefined ? [] : [{ surface: one, calls: count, window }];
    });
    const [shortage = { surface, calls: counts[surface] ?? 0, window: undefined }] = tooMany;
    if (shortage.window !== undefined) return new Refusal('RATE_LIMITED', undefined, shortage);
    const laterMs = Number.isFinite(turnMs) ? turnMs : unknownTurnMs;
    return new Refusal('RATE_LIMITED', Math.max(1, Math.ceil(laterMs / 1000)), shortage);
  }

  /** The windows that one user has of a surface. */
  #windowsOf(surface: Surface, subject: string): readonly BudgetWindow[] {
    const { windows } = this.#options;
    const percent = percentOf(this.#options, subject);
    const all = windows[surface] ?? [];
    return percent === 100 ? all : all.map(({ limit, ms }) => ({ limit: shareOf(limit, percent), ms }));
  }
}

function wantOf({ key }: KeyQueue, { calls, isBackground, hasWaited }: Group): Want {
  const counts: Partial<Record<Surface, number>> = {};
  let subject = '';
  for (const { surface, user } of calls) {
    subject = user;
    counts[surface] = (counts[surface] ?? 0) + 1;
  }
  return { key, subject, isBackground, holds: hasWaited, counts };
}
