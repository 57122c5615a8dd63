import { alternate, type WaitingCall, WaitingCalls } from '../resilience/waiting-calls.ts';
import type { Demand, Permit } from './call-budget.ts';
import type { Account, WantedCall } from './ledger.ts';

/** A call that waits for its place in the budget. */
export interface QueuedCall extends WaitingCall {
  readonly demand: Demand;
  /** Until when it can wait, on the clock of the scheduler. */
  readonly until: number;
  /** Whether it had to wait. */
  hasWaited: boolean;
  /** Whether it waits for an answer that proves its key. */
  awaitsProof: boolean;
  readonly begin: (permit: Permit) => void;
  readonly fail: (error: Error) => void;
}

/** The calls of one account that wait, in a fair order: callers take turns, and the users of each. */
export class FairQueue {
  readonly account: Account;
  /** Whether the ledger has been asked and has not answered. */
  isAsked = false;
  /** Whether it is to be asked again when it has answered. */
  hasNews = false;
  /** Whether calls wait for an answer that proves the key. */
  waitsForProof = false;
  timer: NodeJS.Timeout | undefined;
  readonly #byCaller = new Map<string, WaitingCalls<QueuedCall>>();

  constructor(account: Account) {
    this.account = account;
  }

  get size(): number {
    let size = 0;
    for (const calls of this.#byCaller.values()) size += calls.size;
    return size;
  }

  /** How many calls of a caller wait; those of one user of it if that is given. */
  sizeOf(caller: string, user?: string): number {
    const calls = this.#byCaller.get(caller);
    return (user === undefined ? calls?.size : calls?.sizeOf(user)) ?? 0;
  }

  add(call: QueuedCall): void {
    const { queueKey } = call.demand;
    const calls = this.#byCaller.get(queueKey) ?? new WaitingCalls<QueuedCall>();
    this.#byCaller.set(queueKey, calls);
    calls.add(call);
  }

  has(call: QueuedCall): boolean {
    return this.#byCaller.get(call.demand.queueKey)?.has(call) === true;
  }

  /** It waits no more. */
  delete(call: QueuedCall): void {
    const calls = this.#byCaller.get(call.demand.queueKey);
    calls?.delete(call);
    if (calls?.size === 0) this.#byCaller.delete(call.demand.queueKey);
  }

  /** A call begins: the next turn is another caller's, and of its caller another user's. */
  begin(call: QueuedCall): void {
    const { queueKey } = call.demand;
    const calls = this.#byCaller.get(queueKey);
    calls?.passTurn(call.user);
    this.delete(call);
    if (calls === undefined || calls.size === 0) return;
    this.#byCaller.delete(queueKey);
    this.#byCaller.set(queueKey, calls);
  }

  /** All that wait, in the order of their turns. */
  inOrder(): readonly QueuedCall[] {
    return alternate([...this.#byCaller.values()].map((calls) => calls.inTurns()));
  }
}

/** What the ledger has to know of a call. */
export function wantedBy({ demand: { subject, isBackground } }: QueuedCall): WantedCall {
  return { subject, isBackground };
}
