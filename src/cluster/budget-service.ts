import type { CallBudget, Claim, Permit } from '../rest/budget/call-budget.ts';
import { Refusal } from '../rest/errors.ts';
import type { Decision, PermitEnd, ToPrimary, WorkerClaim } from './messages.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** A worker that spends. */
type Spending = Pick<WorkerHandle, 'send'>;

/** The claims and permits of one worker, by their ids. */
interface Held {
  readonly claims: Map<number, Claim>;
  readonly permits: Map<number, Permit>;
  /** What is sent at the end of this turn of the event loop. */
  decisions: Decision[];
}

/** Lets workers spend one budget; `RemoteBudget` is the side of a worker. */
export class BudgetService {
  readonly #budget: CallBudget;
  readonly #held = new Map<Spending, Held>();

  constructor(budget: CallBudget) {
    this.#budget = budget;
  }

  /** A worker makes claims, and reports calls that have ended. */
  spend(worker: Spending, { claims, ends }: ToPrimary & { readonly kind: 'spend' }): void {
    const held = this.#heldBy(worker);
    // A claim may have been left in the turn in which it was made.
    const operations = new Map<number, object>();
    for (const claim of claims) {
      const operation = operations.get(claim.operation) ?? {};
      operations.set(claim.operation, operation);
      this.#claim(worker, held, claim, operation);
    }
    for (const end of ends) endOf(held, end);
  }

  /** A worker asks what is left. */
  async look(worker: Spending, { id, who, asked }: ToPrimary & { readonly kind: 'look' }): Promise<void> {
    worker.send({ kind: 'outlooks', id, outlooks: await this.#budget.look(who, asked) });
  }

  /** A worker has ended, and its calls with it. */
  ended(worker: Spending): void {
    const held = this.#held.get(worker);
    this.#held.delete(worker);
    for (const { leave } of held?.claims.values() ?? []) leave();
    for (const { end } of held?.permits.values() ?? []) end('given up');
  }

  close(): void {
    this.#budget.close();
  }

  #heldBy(worker: Spending): Held {
    const known = this.#held.get(worker);
    if (known !== undefined) return known;
    const held: Held = { claims: new Map(), permits: new Map(), decisions: [] };
    this.#held.set(worker, held);
    return held;
  }

  #claim(worker: Spending, held: Held, { id, demand }: WorkerClaim, operation: object): void {
    const claim = this.#budget.claim(demand, operation);
    held.claims.set(id, claim);
    const decide = (decision: Decision): void => {
      held.claims.delete(id);
      if (held.decisions.length === 0) setImmediate(() => this.#send(worker, held));
      held.decisions.push(decision);
    };
    claim.permit.then(
      (permit) => {
        // Its worker has ended meanwhile.
        if (this.#held.get(worker) !== held) return permit.giveBack();
        held.permits.set(id, permit);
        decide({ id, waited: permit.waited, left: permit.left });
      },
      (error: unknown) => decide({ id, waited: false, left: 0, refusal: refusalOf(error) }),
    );
  }

  #send(worker: Spending, held: Held): void {
    const { decisions } = held;
    held.decisions = [];
    worker.send({ kind: 'decisions', decisions });
  }
}

function endOf({ claims, permits }: Held, { id, how }: PermitEnd): void {
  // Undecided, it was left; the permit may be under way.
  claims.get(id)?.leave();
  const permit = permits.get(id);
  permits.delete(id);
  if (how === 'not sent') permit?.giveBack();
  else permit?.end(how);
}

function refusalOf(error: unknown): Decision['refusal'] {
  if (!(error instanceof Refusal)) return { code: 'OVERLOADED', retryAfter: 1, shortage: undefined };
  const { code, upstream, shortage } = error;
  return { code: code === 'RATE_LIMITED' ? code : 'OVERLOADED', retryAfter: upstream?.retryAfter, shortage };
}
