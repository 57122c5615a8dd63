import type { CallBudget, Claim, Demand, Needs, Outlooks, Permit } from '../rest/budget/call-budget.ts';
import type { BudgetWindows } from '../rest/budget/settings.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { Decision, PermitEnd, ToPrimary } from './messages.ts';
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
  #claims: { readonly id: number; readonly demand: Demand }[] = [];
  #ends: PermitEnd[] = [];
  #isScheduled = false;

  constructor(windows: BudgetWindows, send: (message: ToPrimary) => void) {
    this.#windows = windows;
    this.#send = send;
  }

  covers(surface: Surface): boolean {
    return this.#windows[surface] !== undefined;
  }

  claim(demand: Demand): Claim {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise: permit, resolve: begin, reject: fail } = Promise.withResolvers<Permit>();
    this.#waiting.set(id, { begin, fail });
    this.#claims.push({ id, demand });
    this.#schedule();
    const leave = (): void => {
      if (!this.#waiting.delete(id)) return;
      fail(new UpstreamError('OVERLOADED'));
      this.#end({ id, how: 'not sent' });
    };
    return { permit, leave };
  }

  async look(who: Pick<Demand, 'key' | 'subject'>, needs: Needs): Promise<Outlooks> {
    const outlooks = await this.#outlooks.ask((id) => this.#send({ kind: 'look', id, who, needs }));
    return outlooks ?? new Map();
  }

  /** The primary has decided claims. */
  decide(decisions: readonly Decision[]): void {
    for (const { id, waited, refusal } of decisions) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (refusal !== undefined) waiting?.fail(new UpstreamError(refusal.code, { retryAfter: refusal.retryAfter }));
      else waiting?.begin(this.#permitOf(id, waited));
    }
  }

  /** The primary has answered what is left. */
  takeOutlooks(id: number, outlooks: Outlooks): void {
    this.#outlooks.answer(id, outlooks);
  }

  close(): void {
    this.#waiting.clear();
  }

  #permitOf(id: number, waited: boolean): Permit {
    return {
      waited,
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
      this.#ends = [];
      this.#send({ kind: 'spend', claims, ends });
    });
  }
}
