import type { CallBudget, Claim, Demand, Outlooks, Permit } from '../rest/budget/call-budget.ts';
import type { BudgetWindows } from '../rest/budget/settings.ts';
import { Refusal, UpstreamError } from '../rest/errors.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { Decision, PermitEnd, ToPrimary, WorkerClaim } from './messages.ts';
import { createPending } from './pending.ts';

/** Longest time that an operation waits to learn what is left, in milliseconds: its calls are decided one by one anyway. */
const outlookTimeoutMs = 1000;

/** A claim that the primary has not decided. */
interface Waiting {
  readonly begin: (permit: Permit) => void;
  readonly fail: (error: Error) => void;
}

/** A worker's side of the budget that the primary counts; `BudgetService` is the other side. */
export class RemoteBudget implements CallBudget {
  readonly #windows: BudgetWindows;
  readonly #send: (message: ToPrimary) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #outlooks = createPending<Outlooks>(outlookTimeoutMs);
  #lastId = 0;
  /** What is sent at the end of this turn of the event loop. */
  #claims: WorkerClaim[] = [];
  /** The operations of these claims, by their first ones. */
  readonly #operations = new Map<object, number>();
  #ends: PermitEnd[] = [];
  #isScheduled = false;

  constructor(windows: BudgetWindows, send: (message: ToPrimary) => void) {
    this.#windows = windows;
    this.#send = send;
  }

  covers(surface: Surface): boolean {
    return this.#windows[surface] !== undefined;
  }

  claim(demand: Demand, operation: object): Claim {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    this.#waiting.set(id, { begin, fail });
    const first = this.#operations.get(operation) ?? id;
    this.#operations.set(operation, first);
    this.#claims.push({ id, operation: first, demand });
    this.#schedule();
    const leave = (): void => {
      if (!this.#waiting.delete(id)) return;
      fail(new UpstreamError('OVERLOADED'));
      this.#end({ id, how: 'not sent' });
    };
    return { permit, leave };
  }

  async look(who: Pick<Demand, 'key' | 'subject'>, asked: readonly Surface[]): Promise<Outlooks> {
    const outlooks = await this.#outlooks.ask((id) => this.#send({ kind: 'look', id, who, asked }));
    return outlooks ?? new Map();
  }

  /** The primary has decided claims. */
  decide(decisions: readonly Decision[]): void {
    for (const { id, waited, left, refusal } of decisions) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (refusal !== undefined) waiting?.fail(new Refusal(refusal.code, refusal.retryAfter, refusal.shortage));
      else waiting?.begin(this.#permitOf(id, waited, left));
    }
  }

  /** The primary has answered what is left. */
  takeOutlooks(id: number, outlooks: Outlooks): void {
    this.#outlooks.answer(id, outlooks);
  }

  close(): void {
    this.#waiting.clear();
  }

  #permitOf(id: number, waited: boolean, left: number): Permit {
    return {
      ...{ waited, left },
      end: (how) => this.#end({ id, how }),
      giveBack: () => this.#end({ id, how: 'not sent' }),
    };
  }

  #end(end: PermitEnd): void {
    this.#ends.push(end);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const [claims, ends] = [this.#claims, this.#ends];
      this.#claims = [];
      this.#operations.clear();
      this.#ends = [];
      this.#send({ kind: 'spend', claims, ends });
    });
  }
}
