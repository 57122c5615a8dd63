import { UpstreamError } from '../errors.ts';
import type { Surface } from '../operation-ids.ts';
import type { CallBudget, Claim, Demand, Needs, Outlooks, Permit } from './call-budget.ts';
import type { Account, Ledger, Outlook, Verdict } from './ledger.ts';
import { Line, type Waiting, wantedBy } from './line.ts';
import { type BudgetSettings, surfaces } from './settings.ts';

/** Settings of the desk. */
export interface DeskOptions extends Pick<BudgetSettings, 'windows' | 'scope'> {
  readonly ledger: Ledger;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Most calls that wait, of all keys together. */
  readonly mostWaiting: number;
  readonly close?: () => void;
}

/** A call that cannot wait longer than this is not let wait, in milliseconds: its deadline would pass first. */
const leastMs = 60;

/** Longest time until a line is looked at again, in milliseconds. */
const longestTimerMs = 60_000;

/**
 * Gives out the calls of a budget. What is asked for in one turn of the event loop is a wave, and the ledger is asked once
 * for all of it. What finds nothing left waits in the line of its account if its turn comes in time.
 */
export class BudgetDesk implements CallBudget {
  readonly #options: DeskOptions;
  readonly #lines = new Map<string, Line>();
  /** Lines to ask the ledger for at the end of this turn. */
  readonly #wave = new Set<Line>();
  #waiting = 0;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  covers(surface: Surface): boolean {
    return this.#options.windows[surface] !== undefined;
  }

  claim(demand: Demand): Claim {
    if (this.#waiting >= this.#options.mostWaiting) {
      return { permit: Promise.reject(new UpstreamError('OVERLOADED', { retryAfter: 1 })), leave: () => undefined };
    }
    const line = this.#lineOf({ key: this.#keyOf(demand.key), surface: demand.surface });
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    const until = this.#options.now() + demand.waitMs;
    const call: Waiting = { demand, user: demand.subject, until, hasWaited: false, begin, fail };
    line.add(call);
    this.#waiting += 1;
    this.#askFor(line);
    return { permit, leave: () => this.#fail(line, call, new UpstreamError('OVERLOADED')) };
  }

  look({ key, subject }: Pick<Demand, 'key' | 'subject'>, needs: Needs): Promise<Outlooks> | Outlooks {
    const asked = surfaces.filter((surface) => needs[surface] !== undefined && this.covers(surface));
    const questions = asked.map((surface) => {
      const account = { key: this.#keyOf(key), surface };
      const waiting = this.#lines.get(nameOf(account))?.size ?? 0;
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
    for (const line of this.#lines.values()) this.#askFor(line);
  }

  close(): void {
    for (const { timer } of this.#lines.values()) clearTimeout(timer);
    this.#options.close?.();
  }

  #keyOf(key: string): string {
    return this.#options.scope === 'all' ? '' : key;
  }

  #lineOf(account: Account): Line {
    const name = nameOf(account);
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line = new Line(account);
    this.#lines.set(name, line);
    return line;
  }

  /** Once all of this turn have asked. */
  #askFor(line: Line): void {
    if (this.#wave.size === 0) setImmediate(() => this.#ask());
    this.#wave.add(line);
  }

  #ask(): void {
    const lines = [...this.#wave];
    this.#wave.clear();
    for (const line of lines) {
      if (line.isAsked) line.hasNews = true;
      else this.#forgetIdle(line);
    }
    const asked = lines
      .filter(({ isAsked, size }) => !isAsked && size > 0)
      .map((line) => ({ line, calls: line.inOrder() }));
    for (const { line } of asked) line.isAsked = true;
    const wants = asked.map(({ line, calls }) => ({ account: line.account, calls: calls.map(wantedBy) }));
    const hear = (verdicts: readonly (readonly Verdict[])[]): void =>
      asked.forEach(({ line, calls }, index) => this.#hear(line, calls, verdicts[index] ?? []));
    if (wants.length === 0) return;
    const taken = this.#options.ledger.take(wants);
    if (taken instanceof Promise) void taken.then(hear);
    else hear(taken);
  }

  #hear(line: Line, calls: readonly Waiting[], verdicts: readonly Verdict[]): void {
    line.isAsked = false;
    line.waitsForProof = false;
    const now = this.#options.now();
    let again = Number.POSITIVE_INFINITY;
    calls.forEach((call, index) => {
      const verdict = verdicts[index] ?? never;
      if (verdict.kind === 'begin') return this.#begin(line, call, verdict);
      if (!line.has(call)) return;
      const turnMs = verdict.kind === 'wait' ? verdict.turnMs : 0;
      const leftMs = call.until - now;
      if (leftMs <= leastMs || turnMs >= leftMs || call.demand.isModest)
        return this.#fail(line, call, rateLimited(turnMs));
      call.hasWaited = true;
      if (verdict.kind === 'prove') line.waitsForProof = true;
      again = Math.min(again, leftMs - leastMs, verdict.kind === 'wait' ? Math.max(1, turnMs) : leftMs);
    });
    if (line.hasNews) this.#askFor(line);
    line.hasNews = false;
    this.#askAgainIn(line, again);
  }

  #askAgainIn(line: Line, milliseconds: number): void {
    clearTimeout(line.timer);
    this.#forgetIdle(line);
    if (line.size === 0) return;
    line.timer = setTimeout(() => this.#askFor(line), Math.min(Math.ceil(milliseconds), longestTimerMs));
  }

  #forgetIdle(line: Line): void {
    if (line.size > 0 || line.isAsked) return;
    clearTimeout(line.timer);
    this.#lines.delete(nameOf(line.account));
  }

  #begin(line: Line, call: Waiting, { call: counted }: Verdict & { readonly kind: 'begin' }): void {
    const { ledger } = this.#options;
    const { account } = line;
    // It has left while the ledger was asked.
    if (!line.has(call)) return ledger.drop(account, counted);
    line.begin(call);
    this.#waiting -= 1;
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
      const line = this.#lines.get(nameOf({ key, surface }));
      if (line?.waitsForProof === true) this.#askFor(line);
    }
  }

  #askWaiting(account: Account): void {
    const line = this.#lines.get(nameOf(account));
    if (line !== undefined) this.#askFor(line);
  }

  #fail(line: Line, call: Waiting, error: UpstreamError): void {
    if (!line.has(call)) return;
    line.delete(call);
    this.#waiting -= 1;
    this.#forgetIdle(line);
    call.fail(error);
  }
}

const never: Verdict = { kind: 'wait', turnMs: Number.POSITIVE_INFINITY };

/** No call can be had in time; `turnMs` is when one could be. */
function rateLimited(turnMs: number): UpstreamError {
  return new UpstreamError('RATE_LIMITED', { retryAfter: Math.max(1, Math.ceil(Math.min(turnMs, 3_600_000) / 1000)) });
}

function nameOf({ key, surface }: Account): string {
  return `${surface} ${key}`;
}
