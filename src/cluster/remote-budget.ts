import type { CallBudget, Claim, Demand, Outlooks, Permit } from '../rest/budget/call-budget.ts';
import type { BudgetWindows } from '../rest/budget/settings.ts';
import { Refusal, UpstreamError } from '../rest/errors.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { PermitEnd, PrimaryFunctions } from './messages.ts';
import type { Channel } from './rpc.ts';

/** Longest time that an operation waits to learn what is left, in milliseconds: its calls are decided one by one anyway. */
const outlookTimeoutMs = 1000;

/** A worker's side of the budget that the primary counts; `BudgetService` is the other side. */
export class RemoteBudget implements CallBudget {
  readonly #windows: BudgetWindows;
  readonly #primary: Channel<PrimaryFunctions>;
  #lastId = 0;
  /** The operations of the claims of this turn of the event loop, by their first ones. */
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
    // The primary knows how long it can wait.
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

/** A primary that cannot decide. */
const crowded = { code: 'OVERLOADED', retryAfter: 1, shortage: undefined } as const;
