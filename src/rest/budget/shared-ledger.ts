import type { Account, CountedCall, End, Ledger, Outlook, Question, Verdict, Want } from './ledger.ts';
import type { LocalLedger } from './local-ledger.ts';
import type { RedisMember } from './redis-member.ts';
import type { BudgetSettings } from './settings.ts';
import { begunIn, judge, outlookFrom, takeFor } from './wave-takes.ts';

/** Settings of the ledger. */
export interface SharedLedgerOptions extends Pick<BudgetSettings, 'windows' | 'share'> {
  /** Counts what this gateway calls, held to the limits that the member keeps by itself. */
  readonly local: LocalLedger;
  readonly member: RedisMember;
}

/**
 * Counts calls in Redis, for all gateways together; those of this one here as well, so that it can go on with its part while
 * Redis cannot be reached, and send them when it can. Keys without a success are counted here alone.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;

  constructor(options: SharedLedgerOptions) {
    this.#options = options;
  }

  async take(wants: readonly Want[]): Promise<readonly (readonly Verdict[])[]> {
    const { local, member } = this.#options;
    await member.joining;
    const verdicts = local.take(wants).map((own, index) => this.#withTurns(wants[index], own));
    const asked = wants
      .map((want, index) => ({ want, index, own: verdicts[index] ?? [] }))
      .filter(({ want }) => member.isJoined && local.isProven(want.account.key));
    if (asked.length === 0) return verdicts;
    const settings = this.#options;
    const joined = await member.tell((names) =>
      asked.map(({ want, own }) => takeFor({ want, verdicts: own, names, settings })),
    );
    const all = [...verdicts];
    for (const [place, { want, index, own }] of asked.entries()) {
      // What Redis may have counted, and did not answer, leaves by itself.
      const judged =
        joined === undefined
          ? own.map((verdict) => (verdict.kind === 'begin' ? this.#waitOf(want) : verdict))
          : judge(want, own, joined.verdicts[place] ?? [], joined.states[place] ?? [], settings);
      const begun = new Set(begunIn(judged));
      for (const call of begunIn(own)) if (!begun.has(call)) local.drop(want.account, call);
      all[index] = judged;
    }
    return all;
  }

  end(ends: readonly End[]): void {
    const { local, member } = this.#options;
    for (const end of ends) {
      const { account, call } = end;
      const wasProven = local.isProven(account.key);
      local.end([end]);
      if (wasProven) member.ended([{ account, call }]);
      else if (local.isProven(account.key)) member.ended(local.callsOf(account.key));
    }
  }

  drop(account: Account, call: CountedCall): void {
    const { local, member } = this.#options;
    local.drop(account, call);
    if (local.isProven(account.key)) member.dropped({ account, call });
  }

  async look(questions: readonly Question[]): Promise<readonly Outlook[]> {
    const { local, member } = this.#options;
    await member.joining;
    const settings = this.#options;
    const own = local.look(questions);
    const known = questions.map(({ account }, index) => this.#outlookOf(own[index], account));
    const asked = questions
      .map(({ account, subject, count }, index) => {
        return { want: { account, calls: [{ subject, isBackground: false }] }, count, index };
      })
      .filter(({ want }) => member.isJoined && local.isProven(want.account.key));
    if (asked.length === 0) return known;
    const joined = await member.tell((names) =>
      asked.map(({ want, count }) => takeFor({ want, verdicts: [], names, settings, ahead: Math.max(1, count) })),
    );
    if (joined === undefined) return known;
    for (const [place, { want, count, index }] of asked.entries()) {
      const told = outlookFrom(want, count, joined.states[place] ?? [], settings);
      known[index] = lesser(told, known[index]);
    }
    return known;
  }

  /** A call that this gateway may not make by itself: when it may. */
  #waitOf({ account }: Pick<Want, 'account'>): Verdict {
    return { kind: 'wait', turnMs: this.#options.member.waitMs(account.surface) };
  }

  #withTurns(want: Want | undefined, verdicts: readonly Verdict[]): readonly Verdict[] {
    if (want === undefined) return verdicts;
    return verdicts.map((verdict) => {
      const isNever = verdict.kind === 'wait' && verdict.turnMs === Number.POSITIVE_INFINITY;
      return isNever ? this.#waitOf(want) : verdict;
    });
  }

  #outlookOf(outlook: Outlook | undefined, { surface }: Account): Outlook {
    const { windows = [], turnMs = 0 } = outlook ?? {};
    const { member, windows: own } = this.#options;
    // Of a window that this gateway may use nothing of for now, the limit is what it is.
    const limits = (own[surface] ?? []).map(({ limit }) => limit);
    return {
      windows: windows.map((window, index) => ({
        ...window,
        limit: window.limit === 0 ? (limits[index] ?? 0) : window.limit,
      })),
      turnMs: turnMs === Number.POSITIVE_INFINITY ? member.waitMs(surface) : turnMs,
    };
  }
}

/** What two say of one account: the less of both. */
function lesser(told: Outlook, own: Outlook | undefined): Outlook {
  if (own === undefined) return told;
  return {
    turnMs: Math.max(told.turnMs, own.turnMs),
    windows: told.windows.map((window, index) => {
      const other = own.windows[index];
      return other !== undefined && other.remaining < window.remaining ? other : window;
    }),
  };
}
