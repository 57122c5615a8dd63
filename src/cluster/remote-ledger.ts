import type { Account, CallEnd, Ledger, LedgerCall, LogOutlooks, Want, WantDecision } from '../rest/ledger.ts';
import type { Surface } from '../rest/rest-operations.ts';
import type { PrimaryFunctions } from './messages.ts';
import type { Channel } from './rpc.ts';

/**
 * The longest time that an operation waits for the state of the ledger, in milliseconds. After that, it goes on without
 * the state, because the ledger decides on each of its calls separately anyway.
 */
const lookTimeoutMs = 1000;

/** A worker's side of the ledger in which the primary counts the calls of all workers. */
export class RemoteLedger implements Ledger {
  readonly #primary: Channel<PrimaryFunctions>;

  constructor(primary: Channel<PrimaryFunctions>) {
    this.#primary = primary;
  }

  async reserve(wants: readonly Want[]): Promise<readonly WantDecision[]> {
    // There is no timeout. The primary could reserve the calls after a timeout. Then the calls would count, but this
    // worker would never make them.
    return (await this.#primary.ask('reserve', wants, Number.POSITIVE_INFINITY)) ?? [];
  }

  end(call: LedgerCall, end: CallEnd): void {
    this.#primary.tell('endCall', { call, end });
  }

  async look(account: Account, surfaces: readonly Surface[]): Promise<LogOutlooks> {
    return (await this.#primary.ask('look', { account, surfaces }, lookTimeoutMs)) ?? new Map();
  }
}
