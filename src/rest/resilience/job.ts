import type { CallCounts } from '../call-counts.ts';
import type { CallSpans } from '../call-spans.ts';
import type { OperationCalls } from '../operation-calls.ts';
import type { Call, Transport } from '../transport/transport.ts';
import type { Applicant, Gates } from './admission.ts';
import type { Reachability } from './reachability.ts';
import type { RetryBudget } from './retry-budget.ts';

/** What all calls to the upstream go through. */
export interface Line extends Gates {
  readonly transport: Transport;
  readonly budget: RetryBudget;
  readonly counts: CallCounts;
  readonly reachability: Reachability;
  readonly maxBodyBytes: number;
}

/** One read or write of one caller. */
export interface Job extends Applicant {
  readonly call: Call;
  readonly key: string;
  /** What the operation that began it may call, and has called. */
  readonly calls: OperationCalls;
  /** Where somebody traces. */
  readonly spans?: CallSpans | undefined;
}
