import type { OperationReport } from '../operation/operation-report.ts';

/** The operations of one client with the same name. Times are ISO 8601 texts. */
export interface UsageRow {
  /**
   * The name that the client sends; empty if it sends none. `other` stands for clients beyond the first hundred, and
   * for clients that have not yet shown a valid key.
   */
  readonly client: string;
  /** The version that the client sends; empty if it sends none. */
  readonly version: string;
  /**
   * The name of the operation; `anonymous` if it has none. `other` stands for the operations of the client that have no
   * row of their own.
   */
  readonly operation: string;
  /** The id of a listed document, otherwise null. */
  readonly document: string | null;
  operations: number;
  errors: number;
  restCalls: number;
  lastAt: string;
}

/** The uses of a deprecated field or argument by one client. */
export interface DeprecatedUse {
  readonly client: string;
  readonly version: string;
  /** Names the field or argument: https://spec.graphql.org/September2025/#sec-Schema-Coordinates */
  readonly coordinate: string;
  uses: number;
  lastAt: string;
}

/** The usage by client since the start. */
export interface Usage {
  readonly operations: readonly UsageRow[];
  readonly deprecated: readonly DeprecatedUse[];
  /**
   * The number of REST calls outside finished operations: polls of streams, refreshes of kept answers, and calls of
   * operations still under way.
   */
  readonly otherRestCalls: number;
}

export const noUsage: Usage = { operations: [], deprecated: [], otherRestCalls: 0 };

/** The maximum number of clients that are counted separately. Versions of a client count as different clients. */
export const mostClients = 100;

/** The name under which all further clients are counted. */
export const otherClient = { client: 'other', version: '' } as const;

/**
 * The maximum number of rows of all clients together. Beyond them, an operation is counted under the name `other` for
 * its client.
 */
const mostRows = 2000;

interface Client {
  readonly client: string;
  readonly version: string;
}

const nameless: Client = { client: '', version: '' };

/**
 * The counts of a row. The time of the last use is in milliseconds since 1970, because making a text of it would cost
 * more than counting.
 */
interface CountedRow extends Omit<UsageRow, 'lastAt'> {
  lastMs: number;
}

interface CountedUse extends Omit<DeprecatedUse, 'lastAt'> {
  lastMs: number;
}

/**
 * Counts operations by client. Any caller may send any client name. So an operation gets a new row only if it has shown
 * that its key is valid: it has no errors and has made REST calls. Without a row, it is counted under the name `other`.
 */
export class ClientUsage {
  readonly #sentCalls: () => number;
  readonly #clients = new Map<string, Client>();
  readonly #rows: CountedRow[] = [];
  /** The rows by client, operation and document, as nested maps: a look-up then allocates nothing. */
  readonly #rowsOf = new Map<Client, Map<string, Map<string | null, CountedRow>>>();
  readonly #deprecated = new Map<string, CountedUse>();

  #operationCalls = 0;
  #mergedCalls = 0;

  /** `sentCalls` returns the number of REST calls that this process has sent. */
  constructor(sentCalls: () => number) {
    this.#sentCalls = sentCalls;
  }

  add({
    client = '',
    clientVersion: version = '',
    operationName: operation = 'anonymous',
    document,
    codes,
    calls,
    deprecated,
  }: OperationReport): void {
    const lastMs = Date.now();
    const errors = codes.length > 0 ? 1 : 0;
    const isGood = errors === 0 && calls > 0;
    this.#operationCalls += calls;
    const named = this.#clientOf({ client, version }, isGood);
    const row = this.#rowOf(named, operation, document ?? null, isGood);
    row.operations += 1;
    row.errors += errors;
    row.restCalls += calls;
    row.lastMs = lastMs;
    for (const coordinate of deprecated ?? []) this.#countDeprecated({ ...named, coordinate, uses: 1, lastMs });
  }

  merge({ operations, deprecated, otherRestCalls }: Usage): void {
    this.#mergedCalls += otherRestCalls;
    for (const more of operations) {
      const row = this.#rowOf(this.#clientOf(more, true), more.operation, more.document, true);
      row.operations += more.operations;
      row.errors += more.errors;
      row.restCalls += more.restCalls;
      row.lastMs = Math.max(row.lastMs, Date.parse(more.lastAt));
    }
    for (const { lastAt, ...use } of deprecated)
      this.#countDeprecated({ ...use, ...this.#clientOf(use, true), lastMs: Date.parse(lastAt) });
  }

  all(): Usage {
    const otherRestCalls = Math.max(this.#sentCalls() - this.#operationCalls, 0) + this.#mergedCalls;
    const deprecated = [...this.#deprecated.values()].map(withText);
    return { operations: this.#rows.map(withText), deprecated, otherRestCalls };
  }

  #clientOf({ client, version }: Client, mayBegin: boolean): Client {
    if (client === '') return nameless;
    const name = `${client}\n${version}`;
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    if (!mayBegin || this.#clients.size >= mostClients) return otherClient;
    const named = { client, version };
    this.#clients.set(name, named);
    return named;
  }

  /** The row of an operation, or the row `other` of its client. Each client has at most one row `other`. */
  #rowOf(named: Client, operation: string, document: string | null, mayBegin: boolean): CountedRow {
    const known = this.#rowsOf.get(named)?.get(operation)?.get(document);
    if (known !== undefined) return known;
    const isOther = operation === 'other' && document === null;
    if (!isOther && !(mayBegin && this.#rows.length < mostRows)) return this.#rowOf(named, 'other', null, mayBegin);
    const row = { ...named, operation, document, operations: 0, errors: 0, restCalls: 0, lastMs: 0 };
    this.#rows.push(row);
    const operations = this.#rowsOf.get(named) ?? new Map<string, Map<string | null, CountedRow>>();
    const documents = operations.get(operation) ?? new Map<string | null, CountedRow>();
    this.#rowsOf.set(named, operations.set(operation, documents.set(document, row)));
    return row;
  }

  /**
   * Counts a deprecated use. The schema has few deprecated fields, so the limit of clients also limits the number of
   * these entries.
   */
  #countDeprecated(more: CountedUse): void {
    const name = [more.client, more.version, more.coordinate].join('\n');
    const known = this.#deprecated.get(name);
    if (known === undefined) return void this.#deprecated.set(name, { ...more });
    known.uses += more.uses;
    known.lastMs = Math.max(known.lastMs, more.lastMs);
  }
}

function withText<Counted extends { readonly lastMs: number }>({
  lastMs,
  ...row
}: Counted): Omit<Counted, 'lastMs'> & { lastAt: string } {
  return { ...row, lastAt: new Date(lastMs).toISOString() };
}

export function addUp(counted: readonly Usage[]): Usage {
  const sum = new ClientUsage(() => 0);
  for (const usage of counted) sum.merge(usage);
  return sum.all();
}
