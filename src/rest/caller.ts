import type { Tenant } from './tenants.ts';

/** Who asks: the personal API key, and what stands for it wherever something is shared or counted. */
export interface Caller {
  readonly key: string;
  /** SHA-256 of that key, as base64url. */
  readonly hash: string;
  /** REST calls with one of these are shared; the upstream's limits, failures and refusals of keys are counted by it. */
  readonly sharingKey: string;
  /** Calls with one of these queue as one when calls have to wait: those of a tenant, or of a key that a caller has sent. */
  readonly queueKey: string;
  /** For whom the gateway holds the key; undefined if the caller has sent it. */
  readonly tenant?: Tenant;
  /** SHA-256 of the tenant's user; undefined without a tenant. */
  readonly subject?: string;
  /** Whose share of the budget its calls count for; by default that of `subject`. */
  readonly budgetSubject?: string;
}
