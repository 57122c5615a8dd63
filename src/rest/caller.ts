import type { Tenant } from './tenants.ts';

/** The caller of an operation: the personal API key, and the names that stand for it when calls are shared or counted. */
export interface Caller {
  readonly key: string;
  /** SHA-256 of that key, as base64url. */
  readonly hash: string;
  /**
   * The sharing key. REST calls with the same sharing key may be shared. The upstream's limits, failures and refusals
   * are counted by it.
   */
  readonly sharingKey: string;
  /** The queue of calls that have to wait: one for each tenant, or for each key that a caller has sent. */
  readonly queueKey: string;
  /** The tenant whose key the gateway holds; undefined if the caller has sent the key. */
  readonly tenant?: Tenant;
  /** SHA-256 of the tenant's user; undefined without a tenant. */
  readonly subject?: string;
  /** The subject whose share of the budget its calls count against; by default `subject`. */
  readonly budgetSubject?: string;
}
