import type { OperationReport } from '../operation/operation-report.ts';

/** Operations of one client by one name. Times are ISO 8601 texts. */
export interface UsageRow {
  /** As the client names itself; empty if it does not, and `other` for clients beyond the first hundred. */
  readonly client: string;
  /** Empty if the client does not say it. */
  readonly version: string;
  /** The name of the operation, `anonymous` without one, and `other` beyond the most rows. */
  readonly operation: string;
  /** The id of a listed document, else null. */
  readonly document: string | null;
  operations: number;
  /** Those that were answered with errors. */
  errors: number;
  restCalls: number;
  lastAt: string;
}

/** The uses of a deprecated field or argument by one client. */
export interface DeprecatedUse {
  readonly client: string;
  readonly version: string;
  /** https://spec.graphql.org/September2025/#sec-Schema-Coordinates */
  readonly coordinate: string;
  /** Operations that used it. */
  uses: number;
  lastAt: string;
}

/** The usage by client since the start. */
export interface Usage {
  readonly operations: readonly UsageRow[];
  readonly deprecated: readonly DeprecatedUse[];
  /**
   * REST calls outside finished operations: polls of streams, refreshes of the cache, and calls of operations still under
   * way.
   */
  readonly otherRestCalls: number;
}

/** The usage before the first operation. */
export const noUsage: Usage = { operations: [], deprecated: [], otherRestCalls: 0 };

/** Most names with their versions that are counted apart. */
export const mostClients = 100;

/** All clients beyond those. */
export const otherClient = { client: 'other', version: '' } as const;

/** Most rows in all; operations beyond them count as `other` of their client. */
const mostRows = 2000;

interface Client {
  readonly client: string;
  readonly version: string;
}

/**
 * Counts operations by client. Any caller may send any client name, so a new row is added only for an operation without
 * errors that has made REST calls: its key is valid.
 */
export class ClientUsage {
  readonly #sentCalls: () => number;
  readonly #clients = new Map<string, Client>();
  readonly #rows = new Map<string, UsageRow>();
  readonly #deprecated = new Map<string, DeprecatedUse>();

  #operationCalls = 0;
  #mergedCalls = 0;

  /** `sentCalls` are all REST calls that this process has sent. */
  constructor(sentCalls: () => number) {
    this.#sentCalls = sentCalls;
  }

  /** Counts an operation that has been answered now. */
  add({ client = '', clientVersion = '', operationName, document, codes, calls, deprecated }: OperationReport): void {
    const lastAt = new Date().toISOString();
    const errors = codes.length > 0 ? 1 : 0;
    const isGood = errors === 0 && calls > 0;
    this.#operationCalls += calls;
    const named = this.#clientOf({ client, version: clientVersion }, isGood);
    const operation = operationName ?? 'anonymous';
    this.#count(
      { ...named, operation, document: document ?? null, operations: 1, errors, restCalls: calls, lastAt },
      isGood,
    );
    for (const coordinate of deprecated ?? []) this.#countDeprecated({ ...named, coordinate, uses: 1, lastAt });
  }

  /** Adds what another process has counted. */
  merge({ operations, deprecated, otherRestCalls }: Usage): void {
    this.#mergedCalls += otherRestCalls;
    for (const row of operations) this.#count({ ...row, ...this.#clientOf(row, true) }, true);
    for (const use of deprecated) this.#countDeprecated({ ...use, ...this.#clientOf(use, true) });
  }

  all(): Usage {
    const otherRestCalls = Math.max(this.#sentCalls() - this.#operationCalls, 0) + this.#mergedCalls;
    return { operations: [...this.#rows.values()], deprecated: [...this.#deprecated.values()], otherRestCalls };
  }

  #clientOf({ client, version }: Client, mayBegin: boolean): Client {
    if (client === '') return { client, version: '' };
    const name = `${client}\n${version}`;
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    if (!mayBegin || this.#clients.size >= mostClients) return otherClient;
    const named = { client, version };
    this.#clients.set(name, named);
    return named;
  }

  #count(more: UsageRow, mayBegin: boolean): void {
    const name = [more.client, more.version, more.operation, more.document].join('\n');
    const row = this.#rows.get(name) ?? (mayBegin && this.#rows.size < mostRows ? undefined : this.#otherOf(more));
    if (row === undefined) return void this.#rows.set(name, { ...more });
    row.operations += more.operations;
    row.errors += more.errors;
    row.restCalls += more.restCalls;
    if (more.lastAt > row.lastAt) row.lastAt = more.lastAt;
  }

  /** There are at most so many of these as there are clients. */
  #otherOf({ client, version, lastAt }: UsageRow): UsageRow {
    const name = [client, version, 'other', null].join('\n');
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    const row = { client, version, operation: 'other', document: null, operations: 0, errors: 0, restCalls: 0, lastAt };
    this.#rows.set(name, row);
    return row;
  }

  /** The schema has few deprecated fields, so their number is bounded by that of the clients. */
  #countDeprecated(more: DeprecatedUse): void {
    const name = [more.client, more.version, more.coordinate].join('\n');
    const known = this.#deprecated.get(name);
    if (known === undefined) return void this.#deprecated.set(name, { ...more });
    known.uses += more.uses;
    if (more.lastAt > known.lastAt) known.lastAt = more.lastAt;
  }
}

/** Sums the usage that several processes have counted. */
export function addUp(counted: readonly Usage[]): Usage {
  const sum = new ClientUsage(() => 0);
  for (const usage of counted) sum.merge(usage);
  return sum.all();
}
