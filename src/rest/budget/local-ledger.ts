import { RecentMap } from '../../recent-map.ts';
import { CallWindows, type CountedCall, callsOf, notSent } from '../call-windows.ts';
import { KeyMap } from '../key-map.ts';
import {
  type Account,
  type CallEnd,
  type Ledger,
  type LedgerCall,
  type LogOutlooks,
  type Want,
  type WantDecision,
} from '../ledger.ts';
import type { Surface } from '../rest-operations.ts';
import { type BudgetSettings, hasShare, type LimitSettings, limitsOf } from './settings.ts';

/** The maximum number of logs of single subjects for one key. A subject has a log for each surface. */
const mostSubjects = 10_000;

/** Settings of the ledger. */
export interface LocalLedgerOptions extends LimitSettings, Pick<BudgetSettings, 'scope'> {
  /** The longest that a call can take, in milliseconds. */
  readonly longestCallMs: number;
  /** The number of gateways among which the limits of proven keys are divided. */
  readonly gateways: number;
  /** Called when calls of proven keys begin, end, or turn out not to have been sent. */
  readonly onChange?: (calls: readonly CountedCall[]) => void;
}

interface LimitedLog {
  readonly log: CallWindows;
  readonly limits: readonly number[];
}

/** Counts calls in the memory of this process. */
export class LocalLedger implements Ledger {
  readonly #options: LocalLedgerOptions;
  readonly #keys = new KeyMap<KeyLogs>();

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
  }

  /** All calls of proven keys that still count. */
  calls(): readonly CountedCall[] {
    return this.#keys.proven.flatMap((logs) => logs.calls());
  }

  /** True if the upstream has shown that it knows the key, or if all keys are counted together. */
  isProven(key: string): boolean {
    return this.#options.scope === 'all' || this.#keys.isProven(key);
  }

  reserve(wants: readonly Want[]): readonly WantDecision[] {
    const held = new Map<CallWindows, number>();
    return wants.map((want) => this.#decide(want, held));
  }

  /** Counts the calls of a `Want` as begun, without deciding on them: another ledger may have allowed them. */
  count(want: Want): readonly CountedCall[] {
    const calls = callsOf(want, performance.now(), Number.POSITIVE_INFINITY);
    for (const call of calls) for (const log of this.#logsOf(call)) log.begin(call);
    return calls;
  }

  end(call: LedgerCall, end: CallEnd): void {
    const endedAt = end === 'not sent' ? notSent : performance.now();
    const [ended] = this.#logsOf(call).map((log) => log.end(call.id, endedAt));
    if (ended !== undefined && this.isProven(call.key)) this.#options.onChange?.([ended]);
    const logs = end === 'proves key' ? this.#keys.prove(call.key) : undefined;
    if (logs !== undefined) this.#options.onChange?.(logs.calls());
  }

  look(account: Account, surfaces: readonly Surface[]): LogOutlooks {
    const now = performance.now();
    return new Map(
      surfaces.map((surface) => {
        const logs = this.#limitedLogsOf({ ...account, surface }, false);
        return [surface, logs.map(({ log, limits }) => log.outlook(now, limits))];
      }),
    );
  }

  #decide(want: Want, held: Map<CallWindows, number>): WantDecision {
    const { key, subject, isBackground, holdsPlaces, bySurface } = want;
    const now = performance.now();
    const asked = bySurface.flatMap(({ surface, ids }) =>
      this.#limitedLogsOf({ key, subject, surface }, isBackground).map((one, index) => ({
        ...one,
        surface,
        count: ids.length,
        isShare: index > 0,
      })),
    );
    let longest: { readonly turnMs: number; readonly surface: Surface } = { turnMs: 0, surface: 'rest' };
    let isHeldByShare = false;
    for (const { log, limits, surface, count, isShare } of asked) {
      const turnMs = log.waitMs(now, limits, count + (held.get(log) ?? 0));
      if (turnMs > longest.turnMs) longest = { turnMs, surface };
      if (isShare && turnMs > 0) isHeldByShare = true;
    }
    if (longest.turnMs === 0) {
      const calls = this.count(want);
      if (this.isProven(key)) this.#options.onChange?.(calls);
      return { kind: 'begin' };
    }
    // If calls wait only because their user has used up its share, they hold back no other user.
    const holding = holdsPlaces ? asked.filter(({ isShare }) => isShare || !isHeldByShare) : [];
    for (const { log, count } of holding) held.set(log, (held.get(log) ?? 0) + count);
    return { kind: 'wait', ...longest };
  }

  #limitedLogsOf(account: Omit<LedgerCall, 'id'>, isBackground: boolean): readonly LimitedLog[] {
    const { key, subject, surface } = account;
    const gateways = this.isProven(key) ? this.#options.gateways : 1;
    const limits = limitsOf(this.#options, surface, subject, { isBackground, gateways });
    return this.#logsOf(account).map((log, index) => ({ log, limits: limits[index] ?? [] }));
  }

  /** Every log that counts a call: the log of its key, and, if its subject has a share, the log of the subject. */
  #logsOf({ key, subject, surface }: Omit<LedgerCall, 'id'>): readonly CallWindows[] {
    const logs = this.#keyLogsOf(key);
    const all = logs.of(surface);
    return hasShare(this.#options, subject) ? [all, logs.of(surface, subject)] : [all];
  }

  #keyLogsOf(key: string): KeyLogs {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const logs = new KeyLogs(this.#options);
    this.#keys.set(key, logs, this.#options.scope === 'all');
    return logs;
  }
}

/** The logs of one key. Each surface has one log of all calls, and one log for each subject that has a share. */
class KeyLogs {
  readonly #options: LocalLedgerOptions;
  readonly #ofKey = new Map<string, CallWindows>();
  readonly #ofSubjects = new RecentMap<string, CallWindows>({ entries: mostSubjects });

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
  }

  /** The log of all calls on a surface. With a `subject`, it is the log of that subject's calls only. */
  of(surface: Surface, subject = ''): CallWindows {
    const logs = subject === '' ? this.#ofKey : this.#ofSubjects;
    const name = `${surface} ${subject}`;
    const known = logs.get(name);
    if (known !== undefined) return known;
    const log = new CallWindows(this.#options.windows[surface] ?? [], this.#options.longestCallMs);
    logs.set(name, log);
    return log;
  }

  calls(): readonly CountedCall[] {
    const now = performance.now();
    return [...this.#ofKey.values()].flatMap((log) => log.calls(now));
  }
}
