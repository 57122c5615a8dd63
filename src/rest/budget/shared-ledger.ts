import type { MaybePromise } from '../../maybe-promise.ts';
import type { Surface } from '../operation-ids.ts';
import { callsOf, notSent } from './call-windows.ts';
import {
  type Account,
  type Ledger,
  type LedgerCall,
  leftIn,
  type Outlook,
  type Outlooks,
  strictest,
  type Want,
  type WantDecision,
} from './ledger.ts';
import { LocalLedger, type LocalLedgerOptions } from './local-ledger.ts';
import { type CountingState, RedisCounts, type RedisCountsOptions, type ScriptDecision } from './redis-counts.ts';
import { limitsOf } from './settings.ts';

/** Settings of the ledger. */
export type SharedLedgerOptions = Omit<LocalLedgerOptions, 'onChange'> & Omit<RedisCountsOptions, 'calls'>;

/**
 * Counts calls in Redis for all gateways together. Counts the calls of this gateway in its own ledger as well, which
 * decides while Redis cannot be asked. Calls with keys that are not proven are counted in the own ledger only.
 */
export class SharedLedger implements Ledger {
  readonly #options: SharedLedgerOptions;
  readonly #local: LocalLedger;
  readonly #redis: RedisCounts;
  readonly counting = (): CountingState => this.#redis.state;

  constructor(options: SharedLedgerOptions) {
    this.#options = options;
    this.#local = new LocalLedger({ ...options, onChange: (calls) => this.#redis.changed(calls) });
    this.#redis = new RedisCounts({ ...options, calls: () => this.#local.calls() });
  }

  reserve(wants: readonly Want[]): MaybePromise<readonly WantDecision[]> {
    const shared = wants.filter(({ key }) => this.#isShared(key));
    if (shared.length === 0) return this.#local.reserve(wants);
    const own = wants.filter((want) => !this.#isShared(want.key));
    const here = this.#local.reserve(own);
    return this.#reserveThere(shared).then((there) => {
      const decisions = [...here, ...there];
      const order = new Map([...own, ...shared].map((want, index) => [want, index]));
      return wants.flatMap((want) => decisions[order.get(want) ?? -1] ?? []);
    });
  }

  end(call: LedgerCall, provesKey: boolean): void {
    this.#local.end(call, provesKey);
  }

  drop(call: LedgerCall): void {
    this.#local.drop(call);
  }

  async look(account: Account, surfaces: readonly Surface[]): Promise<Outlooks> {
    // A want without calls reserves nothing, but its answer has the state of the logs.
    const want: Want = {
      ...{ ...account, isBackground: false, holds: false },
      parts: surfaces.map((surface) => ({ surface, ids: [] })),
    };
    const [decision] = (this.#isShared(account.key) ? await this.#redis.ask([want]) : undefined) ?? [];
    if (decision === undefined) return this.#local.look(account, surfaces);
    const outlooks = this.#outlooksOf(want, decision);
    return new Map([...outlooks].map(([surface, ofLogs]) => [surface, strictest(ofLogs)]));
  }

  close(): void {
    this.#redis.close();
  }

  #isShared(key: string): boolean {
    return this.#redis.isUp && this.#local.isProven(key);
  }

  async #reserveThere(wants: readonly Want[]): Promise<readonly WantDecision[]> {
    const decisions = await this.#redis.ask(wants);
    if (decisions === undefined) {
      // Redis may have counted them.
      this.#redis.changed(wants.flatMap((want) => callsOf(want, 0, notSent)));
      return this.#local.reserve(wants);
    }
    return wants.flatMap((want, index) => {
      const decision = decisions[index];
      return decision === undefined ? [] : this.#decisionOf(want, decision);
    });
  }

  #decisionOf(want: Want, decision: ScriptDecision): WantDecision {
    const [turnMs = 0, late = 1] = decision;
    if (turnMs > 0) return { kind: 'wait', turnMs, surface: want.parts[late - 1]?.surface ?? 'rest' };
    this.#local.count(want);
    const outlooks = this.#outlooksOf(want, decision);
    return { kind: 'begin', left: new Map([...outlooks].map(([surface, ofLogs]) => [surface, leftIn(ofLogs)])) };
  }

  /** The outlooks of the logs of each part. */
  #outlooksOf({ subject, parts }: Want, [, , ...states]: ScriptDecision): ReadonlyMap<Surface, readonly Outlook[]> {
    const numbers = states.values();
    const next = (): number => numbers.next().value ?? 0;
    return new Map(
      parts.map(({ surface }) => {
        const windows = this.#options.windows[surface] ?? [];
        const logs = limitsOf(this.#options, surface, subject).map((limits) =>
          windows.map(({ ms }, nth) => {
            const limit = limits[nth] ?? 0;
            return { ms, limit, remaining: Math.max(0, limit - next()), resetsInMs: next() };
          }),
        );
        return [surface, logs];
      }),
    );
  }
}
