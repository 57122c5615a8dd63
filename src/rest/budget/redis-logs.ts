import { hash } from 'node:crypto';
import type { Account } from './ledger.ts';

/** A log in Redis: of an account, or of one user there. */
export interface RedisLog {
  readonly name: string;
  /** Its place among the names of a wave, from 1. */
  readonly key: number;
  readonly account: Account;
  /** Empty: the log of all users. */
  readonly subject: string;
}

/** The names in Redis that one wave uses, in the order of their first use. They hold hashes only, behind one hash tag. */
export class WaveNames {
  readonly names: string[];
  readonly #logs = new Map<string, RedisLog>();
  readonly #prefix: string;

  /** `upstream` tells budgets of several upstreams in one Redis apart. */
  constructor(upstream: string) {
    this.#prefix = `budget:{${upstream}}:`;
    // The one that the script expects first.
    this.names = [`${this.#prefix}gateways`];
  }

  get logs(): readonly RedisLog[] {
    return [...this.#logs.values()];
  }

  /** The number of the log of an account, or of one user there. */
  of(account: Account, subject = ''): number {
    const name = this.nameOf(account, subject);
    const known = this.#logs.get(name);
    if (known !== undefined) return known.key;
    const key = this.names.push(name);
    this.#logs.set(name, { name, key, account, subject });
    return key;
  }

  nameOf({ key, surface }: Account, subject = ''): string {
    const owner = subject === '' ? key : `${key} ${subject}`;
    return `${this.#prefix}${hashOf(owner)}:${surface}`;
  }
}

/** The hash that stands for a text in names. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
