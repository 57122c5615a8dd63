import { LRUCache } from 'lru-cache';
import type { Surface } from '../operation-ids.ts';
import type { CallWindows } from './call-windows.ts';
import { type AccountOptions, KeyAccount } from './key-account.ts';
import type {
  Account,
  AccountCall,
  CountedCall,
  End,
  Ledger,
  Outlook,
  Question,
  Verdict,
  Want,
  WantedCall,
} from './ledger.ts';
import { outlookOf, roomIn, type WindowState, waitMs } from './outlook.ts';
import { type BudgetSettings, leftToOthers, shareOf } from './settings.ts';

/**
 * Most keys whose calls are remembered, and most that are not proven beside them: invented ones drive out none of the
 * others.
 */
const mostKeys = 10_000;

/** Settings of the ledger. */
export interface LocalLedgerOptions extends AccountOptions, Pick<BudgetSettings, 'scope'> {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Makes the ids of calls. */
  readonly nextId: () => string;
  /** The limits in force on a surface for keys that are proven, if they are others than those of its windows. */
  readonly limitsOf?: (surface: Surface) => readonly number[];
}

/** Counts calls in the memory of this process. */
export class LocalLedger implements Ledger {
  readonly #options: LocalLedgerOptions;
  readonly #proven = new LRUCache<string, KeyAccount>({ max: mostKeys });
  readonly #unproven = new LRUCache<string, KeyAccount>({ max: mostKeys });

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
  }

  /** Every call that counts, of keys that are proven. */
  calls(): readonly AccountCall[] {
    return [...this.#proven.keys()].flatMap((key) => this.callsOf(key));
  }

  /** Every call of a key that counts. */
  callsOf(key: string): readonly AccountCall[] {
    const account = this.#proven.peek(key) ?? this.#unproven.peek(key);
    return [...(account?.calls() ?? [])].map(({ surface, call }) => ({ account: { key, surface }, call }));
  }

  /** Whether a key has had a success. */
  isProven(key: string): boolean {
    return this.#options.scope === 'all' || this.#proven.has(key);
  }

  #accountOf(key: string): KeyAccount {
    const known = this.#proven.get(key) ?? this.#unproven.get(key);
    if (known !== undefined) return known;
    const isProven = this.#options.scope === 'all';
    const account = new KeyAccount(this.#options, isProven);
    (isProven ? this.#proven : this.#unproven).set(key, account);
    return account;
  }

  reserve(wants: readonly Want[]): readonly (readonly Verdict[])[] {
    return wants.map((want) => this.#reserveAll(want));
  }

  end(ends: readonly End[]): void {
    const now = this.#options.now();
    for (const { account, call, isSuccess } of ends) {
      call.endedAt = Math.min(call.endedAt, now);
      const own = this.#accountOf(account.key);
      for (const log of own.logsOf(account.surface, call.subject)) log.end(call);
      if (isSuccess && own.trial !== undefined) this.#prove(account.key, own);
    }
  }

  drop({ key, surface }: Account, call: CountedCall): void {
    for (const log of this.#accountOf(key).logsOf(surface, call.subject)) log.drop(call);
  }

  look(questions: readonly Question[]): readonly Outlook[] {
    const now = this.#options.now();
    return questions.map(({ account, subject, count }) => {
      const states = this.#statesOf(account, { subject, isBackground: false }, now);
      return outlookOf(states, count);
    });
  }

  #reserveAll({ account, calls }: Want): readonly Verdict[] {
    const now = this.#options.now();
    const own = this.#accountOf(account.key);
    /** Of those before it in the line that wait, which go first. */
    const ahead = new Map<string, number>();
    let waiting = 0;
    return calls.map((wanted): Verdict => {
      const { all, own: ofSubject } = this.#statesOf(account, wanted, now);
      const logs = own.logsOf(account.surface, wanted.subject);
      const subjectAhead = ahead.get(wanted.subject) ?? 0;
      const isBelowShare = roomIn(ofSubject) > 0;
      const hasRoom = roomIn(all) > 0 && isBelowShare;
      if (hasRoom && hasRoomToProve(own.trial, now)) {
        const { subject } = wanted;
        const call: CountedCall = {
          id: this.#options.nextId(),
          subject,
          beganAt: now,
          endedAt: Number.POSITIVE_INFINITY,
        };
        for (const log of logs) log.begin(call);
        return { kind: 'begin', call };
      }
      ahead.set(wanted.subject, subjectAhead + 1);
      if (isBelowShare) waiting += 1;
      if (hasRoom) return verdictOnTrial(own.trial, now);
      return { kind: 'wait', turnMs: Math.max(waitMs(all, Math.max(1, waiting)), waitMs(ofSubject, subjectAhead + 1)) };
    });
  }

  /** What holds a call back: the windows of its key, and its user's share of them. */
  #statesOf(
    { key, surface }: Account,
    { subject, isBackground }: WantedCall,
    now: number,
  ): Record<'all' | 'own', readonly WindowState[]> {
    const { limitsOf, windows, share } = this.#options;
    const account = this.#accountOf(key).on(surface);
    const ownLimits = (windows[surface] ?? []).map(({ limit }) => limit);
    const limits = this.isProven(key) ? (limitsOf?.(surface) ?? ownLimits) : ownLimits;
    const least = isBackground ? limits.map((limit) => limit - leftToOthers(limit)) : limits;
    const all = account.all.states(now, least);
    const shares = limits.map((limit) => shareOf(limit, share));
    const own = account.of(subject)?.states(now, shares) ?? [];
    return { all, own };
  }

  #prove(key: string, account: KeyAccount): void {
    account.trial = undefined;
    this.#unproven.delete(key);
    this.#proven.set(key, account);
  }
}

function hasRoomToProve(trial: CallWindows | undefined, now: number): boolean {
  return trial === undefined || roomIn(trial.states(now)) > 0;
}

/** While calls are in flight, one of their answers may prove the key. */
function verdictOnTrial(trial: CallWindows | undefined, now: number): Verdict {
  if (trial === undefined || trial.hasInFlight) return { kind: 'prove' };
  return { kind: 'wait', turnMs: waitMs(trial.states(now), 1) };
}
