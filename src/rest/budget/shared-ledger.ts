import type { Account, CountedCall, End, Ledger, Outlook, Question, Verdict, Want } from './ledger.ts';
import type { LocalLedger } from './local-ledger.ts';
import type { RedisCounts } from './redis-counts.ts';
import { outlookFrom, reservationOf, verdictsOf } from './reservations.ts';
import type { BudgetSettings } from './settings.ts';

/** Settings of the ledger. */
export interface SharedLedgerOptions extends Pick<BudgetSettings, 'windows' | 'share'> {
  /** Counts what this gateway calls; holds it to its part of the limits while Redis does not decide. */
  readonly local: LocalLedger;
  readonly redis: RedisCounts;
}

/**
 * Counts calls in Redis, for all gateways together, and those of this one here as well. While Redis cannot be asked, the
 * ledger here decides. Keys without a success are counted here alone.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;

  constructor(options: SharedLedgerOptions) {
    this.#options = options;
  }

  reserve(wants: readonly Want[]): Promise<readonly (readonly Verdict[])[]> | readonly (readonly Verdict[])[] {
    const { local, redis } = this.#options;
    const shared = wants.filter(({ account }) => redis.isUp && local.isProven(account.key));
    if (shared.length === 0) return this.#reserveHere(wants);
    const own = this.#reserveHere(wants.filter((want) => !shared.includes(want)));
    return this.#reserveThere(shared).then((verdicts) => {
      const [here, there] = [own.values(), verdicts.values()];
      return wants.map((want) => (shared.includes(want) ? there : here).next().value ?? []);
    });
  }

  end(ends: readonly End[]): void {
    const { local, redis } = this.#options;
    for (const end of ends) {
      const { account, call } = end;
      const wasProven = local.isProven(account.key);
      local.end([end]);
      if (wasProven) redis.changed([{ account, call }]);
      else if (local.isProven(account.key)) redis.changed(local.callsOf(account.key));
    }
  }

  drop(account: Account, call: CountedCall): void {
    const { local, redis } = this.#options;
    local.drop(account, call);
    if (local.isProven(account.key)) redis.dropped({ account, call });
  }

  look(questions: readonly Question[]): Promise<readonly Outlook[]> | readonly Outlook[] {
    const { local, redis } = this.#options;
    const shared = questions.filter(({ account }) => redis.isUp && local.isProven(account.key));
    return shared.length === 0 ? local.look(questions) : this.#lookThere(questions, shared);
  }

  #reserveHere(wants: readonly Want[]): readonly (readonly Verdict[])[] {
    const { local, redis } = this.#options;
    const verdicts = local.reserve(wants);
    wants.forEach(({ account }, index) => {
      if (!local.isProven(account.key)) return;
      redis.changed(begunIn(verdicts[index]).map((call) => ({ account, call })));
    });
    return verdicts;
  }

  /** Begins the calls here, where nothing holds them back, and keeps those that Redis allows. */
  async #reserveThere(wants: readonly Want[]): Promise<readonly (readonly Verdict[])[]> {
    const { local, redis } = this.#options;
    const begun = local.reserve(wants).map(begunIn);
    const reply = await redis.reserve(
      begun.flat().map(({ id }) => id),
      (names) =>
        wants.map((want, index) => reservationOf(want, begun[index] ?? [], want.calls.length, names, this.#options)),
    );
    if (reply === undefined) {
      // Redis may have counted them.
      wants.forEach(({ account }, index) => {
        for (const call of begun[index] ?? []) this.drop(account, call);
      });
      return this.#reserveHere(wants);
    }
    return wants.map((want, index) => {
      const calls = begun[index] ?? [];
      const allowed = reply.verdicts[index] ?? [];
      calls.forEach((call, place) => {
        if (allowed[place] !== true) local.drop(want.account, call);
      });
      return verdictsOf(want, calls, allowed, reply.states[index] ?? [], this.#options);
    });
  }

  async #lookThere(questions: readonly Question[], shared: readonly Question[]): Promise<readonly Outlook[]> {
    const { local, redis } = this.#options;
    const wants = shared.map(({ account, subject }): Want => ({ account, calls: [{ subject, isBackground: false }] }));
    const reply = await redis.reserve([], (names) =>
      wants.map((want, index) => reservationOf(want, [], Math.max(1, shared[index]?.count ?? 1), names, this.#options)),
    );
    const own = local.look(questions);
    if (reply === undefined) return own;
    return questions.map((question, index) => {
      const place = shared.indexOf(question);
      const want = wants[place];
      if (want === undefined) return own[index] ?? { windows: [], turnMs: 0 };
      return outlookFrom(want, question.count, reply.states[place] ?? [], this.#options);
    });
  }
}

/** The calls among verdicts that may begin. */
function begunIn(verdicts: readonly Verdict[] = []): readonly CountedCall[] {
  return verdicts.flatMap((verdict) => (verdict.kind === 'begin' ? [verdict.call] : []));
}
