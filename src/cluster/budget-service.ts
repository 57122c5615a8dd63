import type { CallBudget, Claim, Permit } from '../rest/budget/call-budget.ts';
import type { Outlooks } from '../rest/budget/outlook.ts';
import { Refusal } from '../rest/errors.ts';
import type { Decision, LookQuestion, PermitEnd, WorkerClaim } from './messages.ts';

/** The claims and permits of one worker, by their ids. */
interface Held {
  readonly claims: Map<number, Claim>;
  readonly permits: Map<number, Permit>;
  /** The operations of the claims in this turn of the event loop, by the numbers that the worker gave them. */
  readonly operations: Map<number, object>;
}

/** Lets all workers spend one budget. `RemoteBudget` is the worker's side. */
export class BudgetService {
  readonly #budget: CallBudget;
  readonly #held = new Map<object, Held>();

  constructor(budget: CallBudget) {
    this.#budget = budget;
  }

  /** Claims a REST call for a worker. */
  async claim(worker: object, { id, operation, demand }: WorkerClaim): Promise<Decision> {
    const held = this.#heldBy(worker);
    const claim = this.#budget.claim(demand, operationOf(held, operation));
    held.claims.set(id, claim);
    try {
      const permit = await claim.permit;
      // The worker may have ended in the meantime.
      if (this.#held.get(worker) === held) held.permits.set(id, permit);
      else permit.giveBack();
      return { waited: permit.waited, left: permit.left };
    } catch (error) {
      return { waited: false, left: 0, refusal: refusalOf(error) };
    } finally {
      held.claims.delete(id);
    }
  }

  /** Ends a claim: the worker's call has ended or is no longer wanted. */
  end(worker: object, { id, how }: PermitEnd): void {
    const { claims, permits } = this.#heldBy(worker);
    // A claim that is not decided yet is withdrawn; its permit may be on its way.
    claims.get(id)?.leave();
    const permit = permits.get(id);
    permits.delete(id);
    if (how === 'not sent') permit?.giveBack();
    else permit?.end(how);
  }

  /** The rest of the budget. */
  look({ who, asked }: LookQuestion): Promise<Outlooks> | Outlooks {
    return this.#budget.look(who, asked);
  }

  /** Ends all claims and permits of a worker that has ended. */
  ended(worker: object): void {
    const held = this.#held.get(worker);
    this.#held.delete(worker);
    for (const { leave } of held?.claims.values() ?? []) leave();
    for (const { end } of held?.permits.values() ?? []) end('given up');
  }

  close(): void {
    this.#budget.close();
  }

  #heldBy(worker: object): Held {
    const known = this.#held.get(worker);
    if (known !== undefined) return known;
    const held: Held = { claims: new Map(), permits: new Map(), operations: new Map() };
    this.#held.set(worker, held);
    return held;
  }
}

/** The object that stands for an operation of a worker. All claims of one operation come in one turn of the event loop. */
function operationOf({ operations }: Held, number: number): object {
  if (operations.size === 0) setImmediate(() => operations.clear());
  const operation = operations.get(number) ?? {};
  operations.set(number, operation);
  return operation;
}

function refusalOf(error: unknown): Decision['refusal'] {
  if (!(error instanceof Refusal)) return { code: 'OVERLOADED', retryAfter: 1, shortage: undefined };
  const { code, upstream, shortage } = error;
  return { code: code === 'RATE_LIMITED' ? code : 'OVERLOADED', retryAfter: upstream?.retryAfter, shortage };
}
