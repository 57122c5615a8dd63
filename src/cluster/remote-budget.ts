import type { CallBudget, Claim, Demand, Permit } from '../rest/budget/call-budget.ts';
import type { Outlooks } from '../rest/budget/outlook.ts';
import type { BudgetWindows } from '../rest/budget/settings.ts';
import { Refusal, UpstreamError } from '../rest/errors.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { PermitEnd, PrimaryFunctions } from './messages.ts';
import type { Channel } from './rpc.ts';

/**
 * The longest time that an operation waits for the state of the budget, in milliseconds: each of its calls is decided
 * separately anyway.
 */
const outlookTimeoutMs = 1000;

/** The worker's side of the budget that the primary counts. `BudgetService` is the primary's side. */
export class RemoteBudget implements CallBudget {
  readonly #windows: BudgetWindows;
  readonly #primary: Channel<PrimaryFunctions>;
  #lastId = 0;
  /** The numbers of the operations that have made claims in this turn of the event loop: the id of their first claim. */
  readonly #operations = new Map<object, number>();

  constructor(windows: BudgetWindows, primary: Channel<PrimaryFunctions>) {
    this.#windows = windows;
    this.#primary = primary;
  }

  covers(surface: Surface): boolean {
    return this.#windows[surface] !== undefined;
  }

  claim(demand: Demand, operation: object): Claim {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    const claim = { id, operation: this.#numberOf(operation, id), demand };
    let isDecided = false;
    // No timeout here: the primary knows how long a claim can wait.
    void this.#primary.ask('claim', claim, Number.POSITIVE_INFINITY).then((decision) => {
      if (isDecided) return;
      isDecided = true;
      const { refusal, waited, left } = decision ?? { refusal: crowded, waited: false, left: 0 };
      if (refusal === undefined) begin(this.#permitOf(id, waited, left));
      else fail(new Refusal(refusal.code, refusal.retryAfter, refusal.shortage));
    });
    const leave = (): void => {
      if (isDecided) return;
      isDecided = true;
      fail(new UpstreamError('OVERLOADED'));
      this.#end({ id, how: 'not sent' });
    };
    return { permit, leave };
  }

  async look(who: Pick<Demand, 'key' | 'subject'>, asked: readonly Surface[]): Promise<Outlooks> {
    return (await this.#primary.ask('look', { who, asked }, outlookTimeoutMs)) ?? new Map();
  }

  close(): void {
    this.#operations.clear();
  }

  #numberOf(operation: object, id: number): number {
    if (this.#operations.size === 0) setImmediate(() => this.#operations.clear());
    const first = this.#operations.get(operation) ?? id;
    this.#operations.set(operation, first);
    return first;
  }

  #permitOf(id: number, waited: boolean, left: number): Permit {
    return {
      ...{ waited, left },
      end: (how) => this.#end({ id, how }),
      giveBack: () => this.#end({ id, how: 'not sent' }),
    };
  }

  #end(end: PermitEnd): void {
    this.#primary.tell('endClaim', end);
  }
}

/** The refusal if the primary cannot decide. */
const crowded = { code: 'OVERLOADED', retryAfter: 1, shortage: undefined } as const;
