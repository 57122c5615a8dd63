import type { BudgetCounts } from '../budget/budget-counts.ts';
import type { CallBudget, Permit } from '../budget/call-budget.ts';
import { accountOf } from '../budget/ledger.ts';
import { isRateLimited } from '../errors.ts';
import type { Attempt, Gate, Outcome } from './gate.ts';

/** A call most likely has enough time if this many times the recent mean duration is left. */
const usualFactor = 1.5;

/** Settings of the gate. */
export interface BudgetGateOptions {
  readonly budget: CallBudget;
  readonly counts: Pick<BudgetCounts, 'waited' | 'found'>;
  /** The clock of deadlines, in milliseconds. */
  readonly now: () => number;
  /** The recent mean duration of calls, in milliseconds. */
  readonly usualMs: () => number;
}

/** Admits calls for which the budget of their key has room. */
export class BudgetGate implements Gate {
  readonly #options: BudgetGateOptions;

  constructor(options: BudgetGateOptions) {
    this.#options = options;
  }

  enter(attempt: Attempt): Promise<void> | undefined {
    return this.#options.budget.covers(attempt.request.operation.surface) ? this.#claim(attempt) : undefined;
  }

  left(attempt: Attempt, outcome: Outcome): void {
    const { claim, permit } = attempt;
    attempt.claim = undefined;
    attempt.permit = undefined;
    claim?.leave();
    if (outcome.kind === 'not-sent') permit?.giveBack();
    else if (outcome.kind !== 'given-up')
      permit?.end(outcome.kind === 'answered' && outcome.isKnown ? 'proof' : 'failure');
  }

  async #claim(attempt: Attempt): Promise<void> {
    const { budget, counts } = this.#options;
    const { owner, request, isBackground } = attempt;
    const { queueKey } = owner.caller;
    const { surface } = request.operation;
    const waitMs = this.#waitMs(attempt);
    const demand = { ...accountOf(owner.caller), surface, queueKey, waitMs, isBackground };
    const claim = budget.claim(demand, owner.calls);
    attempt.claim = claim;
    let permit: Permit;
    try {
      permit = await claim.permit;
    } catch (error) {
      if (attempt.claim === claim) attempt.claim = undefined;
      // A client's operation has joined meanwhile, so the call may use what background calls leave to others.
      if (isRateLimited(error) && isBackground && !attempt.isBackground) return this.#claim(attempt);
      throw error;
    }
    // The attempt has left meanwhile.
    if (attempt.claim !== claim) return permit.giveBack();
    attempt.claim = undefined;
    attempt.permit = permit;
    if (permit.waited) counts.waited(surface);
    counts.found(surface, permit.left);
  }

  /**
   * The longest that a call waits for the budget, in milliseconds. A read keeps enough time back for a call of recent mean
   * duration. A write waits for at most half of its time: it needs the rest to learn its result.
   */
  #waitMs({ endsAt, request }: Attempt): number {
    const { now, usualMs } = this.#options;
    const leftMs = endsAt - now();
    return request.isWrite ? leftMs / 2 : leftMs - Math.min(leftMs / 2, usualFactor * usualMs());
  }
}
