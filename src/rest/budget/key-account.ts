import { RecentMap } from '../../recent-map.ts';
import type { Surface } from '../operation-ids.ts';
import { CallWindows } from './call-windows.ts';
import type { CountedCall } from './ledger.ts';
import { type BudgetSettings, type BudgetWindow, percentOf } from './settings.ts';

/** The most users of one key whose calls are counted separately on one surface. */
const mostSubjects = 10_000;

/** Settings of accounts. */
export interface AccountOptions extends Pick<BudgetSettings, 'windows' | 'share' | 'agentShare'> {
  /** The longest that a call can take, in milliseconds. */
  readonly longestCallMs: number;
}

/** The calls of one key on one surface, all and those of each user. */
export class SurfaceAccount {
  readonly all: CallWindows;
  readonly #windows: readonly BudgetWindow[];
  readonly #options: AccountOptions;
  /** The calls of each user; empty if users have no share of their own. */
  readonly #bySubject = new RecentMap<string, CallWindows>({ entries: mostSubjects });

  constructor(windows: readonly BudgetWindow[], options: AccountOptions) {
    this.all = new CallWindows(windows, options.longestCallMs);
    this.#windows = windows;
    this.#options = options;
  }

  /** The calls of one user; undefined if users have no share of their own. */
  of(subject: string): CallWindows | undefined {
    if (percentOf(this.#options, subject) === 100) return undefined;
    const known = this.#bySubject.get(subject);
    if (known !== undefined) return known;
    const own = new CallWindows(this.#windows, this.#options.longestCallMs);
    this.#bySubject.set(subject, own);
    return own;
  }
}

/** The calls of one key. */
export class KeyAccount {
  readonly #options: AccountOptions;
  readonly #surfaces = new Map<Surface, SurfaceAccount>();

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  /** Its calls on a surface that has a budget. */
  on(surface: Surface): SurfaceAccount {
    const known = this.#surfaces.get(surface);
    if (known !== undefined) return known;
    const account = new SurfaceAccount(this.#options.windows[surface] ?? [], this.#options);
    this.#surfaces.set(surface, account);
    return account;
  }

  /** Every log that counts a call. */
  logsOf(surface: Surface, subject: string): readonly CallWindows[] {
    const account = this.on(surface);
    const own = account.of(subject);
    return own === undefined ? [account.all] : [account.all, own];
  }

  /** Every call that counts, with its surface. */
  *calls(): Iterable<{ readonly surface: Surface; readonly call: CountedCall }> {
    for (const [surface, { all }] of this.#surfaces) for (const call of all.calls) yield { surface, call };
  }
}
