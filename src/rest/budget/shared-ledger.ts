import type { MaybePromise } from '../../maybe-promise.ts';
import {
  type Account,
  type AccountCall,
  type CountedCall,
  type End,
  type Ledger,
  never,
  type Outlook,
  type Question,
  type Want,
  type WantDecision,
} from './ledger.ts';
import type { LocalLedger } from './local-ledger.ts';
import type { RedisCounts } from './redis-counts.ts';
import { Reservation } from './reservations.ts';
import type { BudgetSettings } from './settings.ts';

/** Settings of the ledger. */
export interface SharedLedgerOptions extends Pick<BudgetSettings, 'windows' | 'share' | 'agentShare'> {
  /** Counts the calls of this gateway, and holds it to its part of the limits while Redis does not decide. */
  readonly local: LocalLedger;
  readonly redis: RedisCounts;
}

/**
 * Counts calls in Redis for all gateways together. Counts the calls of this gateway in its own ledger as well, which
 * decides while Redis cannot be asked. Keys without a success are counted in the own ledger only.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;

  constructor(options: SharedLedgerOptions) {
    this.#options = options;
  }

  reserve(wants: readonly Want[]): MaybePromise<readonly WantDecision[]> {
    const { local, redis } = this.#options;
    const shared = wants.filter(({ key }) => redis.isUp && local.isProven(key));
    if (shared.length === 0) return this.#reserveHere(wants);
    const own = this.#reserveHere(wants.filter((want) => !shared.includes(want)));
    return this.#reserveThere(shared).then((verdicts) => {
      const [here, there] = [own.values(), verdicts.values()];
      return wants.map((want) => (shared.includes(want) ? there : here).next().value ?? never);
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

  look(questions: readonly Question[]): MaybePromise<readonly Outlook[]> {
    const { local, redis } = this.#options;
    const shared = questions.filter(({ account }) => redis.isUp && local.isProven(account.key));
    return shared.length === 0 ? local.look(questions) : this.#lookThere(questions, shared);
  }

  #reserveHere(wants: readonly Want[]): readonly WantDecision[] {
    const { local, redis } = this.#options;
    const verdicts = local.reserve(wants);
    redis.changed(verdicts.flatMap(begunIn).filter(({ account }) => local.isProven(account.key)));
    return verdicts;
  }

  /** Begins the calls in the own ledger, without limits, and keeps those that Redis allows. */
  async #reserveThere(wants: readonly Want[]): Promise<readonly WantDecision[]> {
    const { local, redis } = this.#options;
    const begun = local.reserve(wants).map(begunIn);
    const reservation = new Reservation(this.#options);
    const reply = await redis.reserve(
      begun.flat().map(({ call }) => call.id),
      (names) => reservation.ask(wants, begun, names),
    );
    if (reply === undefined) {
      // Redis may have counted them.
      for (const { account, call } of begun.flat()) this.drop(account, call);
      return this.#reserveHere(wants);
    }
    return wants.map((want, index) => {
      const calls = begun[index] ?? [];
      const isAllowed = reply.verdicts[index] === true;
      if (!isAllowed) for (const { account, call } of calls) local.drop(account, call);
      return reservation.verdictOf(want, calls, isAllowed, reply.states);
    });
  }

  async #lookThere(questions: readonly Question[], shared: readonly Question[]): Promise<readonly Outlook[]> {
    const { local, redis } = this.#options;
    const reservation = new Reservation(this.#options);
    const reply = await redis.reserve([], (names) => reservation.look(shared, names));
    const own = local.look(questions);
    if (reply === undefined) return own;
    return questions.map((question, index) =>
      shared.includes(question) ? reservation.outlookOf(question, reply.states) : (own[index] ?? []),
    );
  }
}

/** The calls of a verdict that may begin. */
function begunIn(verdict: WantDecision): readonly AccountCall[] {
  return verdict.kind === 'begin' ? verdict.calls : [];
}
