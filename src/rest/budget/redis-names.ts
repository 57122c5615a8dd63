import { hash } from 'node:crypto';
import type { Account } from './ledger.ts';

/** Names in Redis that are used in one wave, numbered from 1 in the order of their first use. They hold hashes only. */
export class WaveNames {
  readonly names: string[];
  readonly #numbers = new Map<string, number>();
  readonly #upstream: string;

  /** `upstream` tells budgets of several upstreams in one Redis apart. */
  constructor(upstream: string) {
    this.#upstream = upstream;
    // Those that the script expects first.
    this.names = [`budget:${upstream}:born`, `budget:${upstream}:gateways`];
  }

  /** The set of the calls of an account, or of one user there. */
  of({ key, surface }: Account, subject = ''): number {
    const owner = subject === '' ? key : `${key} ${subject}`;
    const whole = `${surface} ${owner}`;
    const known = this.#numbers.get(whole);
    if (known !== undefined) return known;
    const number = this.names.push(`budget:${hashOf(`${this.#upstream} ${owner}`)}:${surface}`);
    this.#numbers.set(whole, number);
    return number;
  }
}

/** What stands for a text in names. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
