import { RecentMap } from '../../recent-map.ts';
import type { Surface } from '../operation-ids.ts';
import { type AccountOptions, KeyAccount } from './key-account.ts';
import type {
  Account,
  AccountCall,
  CountedCall,
  End,
  Ledger,
  Outlook,
  Question,
  Want,
  WantDecision,
} from './ledger.ts';
import { leftAfter, outlookOf, type States, waitMs } from './outlook.ts';
import { type BudgetSettings, leftToOthers, partsOf, percentOf, shareOf } from './settings.ts';

/**
 * The most proven keys whose calls are remembered, and the most unproven keys. The two lists are separate, so that
 * invented keys never evict proven ones.
 */
const mostKeys = 10_000;

/** Settings of the ledger. */
export interface LocalLedgerOptions extends AccountOptions, Pick<BudgetSettings, 'scope'> {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Makes the ids of calls. */
  readonly nextId: () => string;
  /** The limits in force on a surface for proven keys, if they differ from those of its windows. */
  readonly limitsOf?: (surface: Surface) => readonly number[];
}

/** Counts calls in the memory of this process. */
export class LocalLedger implements Ledger {
  readonly #options: LocalLedgerOptions;
  readonly #proven = new RecentMap<string, KeyAccount>({ entries: mostKeys });
  readonly #unproven = new RecentMap<string, KeyAccount>({ entries: mostKeys });

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
  }

  /** All calls that count, of proven keys. */
  calls(): readonly AccountCall[] {
    return [...this.#proven.keys()].flatMap((key) => this.callsOf(key));
  }

  /** All calls of a key that count. */
  callsOf(key: string): readonly AccountCall[] {
    const account = this.#proven.peek(key) ?? this.#unproven.peek(key);
    return [...(account?.calls() ?? [])].map(({ surface, call }) => ({ account: { key, surface }, call }));
  }

  /** True if the upstream has shown that it knows the key. */
  isProven(key: string): boolean {
    return this.#options.scope === 'all' || this.#proven.has(key);
  }

  #accountOf(key: string): KeyAccount {
    const known = this.#proven.get(key) ?? this.#unproven.get(key);
    if (known !== undefined) return known;
    const account = new KeyAccount(this.#options);
    (this.#options.scope === 'all' ? this.#proven : this.#unproven).set(key, account);
    return account;
  }

  reserve(wants: readonly Want[]): readonly WantDecision[] {
    const held = new HeldCalls();
    return wants.map((want) => this.#reserveAll(want, held));
  }

  end(ends: readonly End[]): void {
    const now = this.#options.now();
    for (const { account, call, provesKey } of ends) {
      call.endedAt = Math.min(call.endedAt, now);
      const own = this.#accountOf(account.key);
      for (const log of own.logsOf(account.surface, call.subject)) log.end(call);
      if (provesKey && !this.isProven(account.key)) {
        this.#unproven.delete(account.key);
        this.#proven.set(account.key, own);
      }
    }
  }

  drop({ key, surface }: Account, call: CountedCall): void {
    for (const log of this.#accountOf(key).logsOf(surface, call.subject)) log.drop(call);
  }

  look(questions: readonly Question[]): readonly Outlook[] {
    const now = this.#options.now();
    return questions.map(({ account, subject }) => outlookOf(this.#statesOf(account, subject, false, now)));
  }

  #reserveAll(want: Want, held: HeldCalls): WantDecision {
    const now = this.#options.now();
    const { key, subject, isBackground, counts } = want;
    const parts = partsOf(counts).map(([surface, count]) => {
      const account = { key, surface };
      const states = this.#statesOf(account, subject, isBackground, now);
      const shareMs = waitMs(states.own, count + held.of(account, subject));
      const turnMs = Math.max(shareMs, waitMs(states.all, count + held.of(account)));
      return { account, count, states, turnMs, isHeldByShare: shareMs > 0 };
    });
    const late = parts.toSorted((one, other) => other.turnMs - one.turnMs)[0];
    if (late !== undefined && late.turnMs > 0) {
      if (want.holds)
        for (const { account, count, isHeldByShare } of parts) held.add(account, subject, count, isHeldByShare);
      return { kind: 'wait', turnMs: late.turnMs, surface: late.account.surface };
    }
    return {
      kind: 'begin',
      calls: parts.flatMap(({ account, count }) =>
        Array.from({ length: count }, () => ({ account, call: this.#begin(account, subject, now) })),
      ),
      left: Object.fromEntries(parts.map(({ account, states, count }) => [account.surface, leftAfter(states, count)])),
    };
  }

  #begin({ key, surface }: Account, subject: string, now: number): CountedCall {
    const call: CountedCall = {
      id: this.#options.nextId(),
      subject,
      beganAt: now,
      endedAt: Number.POSITIVE_INFINITY,
    };
    for (const log of this.#accountOf(key).logsOf(surface, subject)) log.begin(call);
    return call;
  }

  #statesOf({ key, surface }: Account, subject: string, isBackground: boolean, now: number): States {
    const { limitsOf, windows } = this.#options;
    const percent = percentOf(this.#options, subject);
    const account = this.#accountOf(key).on(surface);
    const ownLimits = (windows[surface] ?? []).map(({ limit }) => limit);
    const limits = this.isProven(key) ? (limitsOf?.(surface) ?? ownLimits) : ownLimits;
    const least = isBackground ? limits.map((limit) => limit - leftToOthers(limit)) : limits;
    const all = account.all.states(now, least);
    const shares = limits.map((limit) => shareOf(limit, percent));
    const own = account.of(subject)?.states(now, shares) ?? [];
    return { all, own };
  }
}

/** The calls that are held for waiting wants, by account and by user. */
class HeldCalls {
  readonly #counts = new Map<string, number>();

  of(account: Account, subject = ''): number {
    return this.#counts.get(nameOf(account, subject)) ?? 0;
  }

  /** Holds calls for a want. A want that waits for its user's share holds back no other user. */
  add(account: Account, subject: string, count: number, isHeldByShare: boolean): void {
    for (const owner of isHeldByShare ? [subject] : new Set(['', subject])) {
      this.#counts.set(nameOf(account, owner), this.of(account, owner) + count);
    }
  }
}

function nameOf({ key, surface }: Account, subject: string): string {
  return `${surface} ${key} ${subject}`;
}
