import type { RestClient } from '../client.ts';
import { answers } from '../generated/answers.ts';
import type { RestOperation } from '../operation-ids.ts';
import { isObject, type JsonObject } from '../values.ts';
import { Comparison, type Difference, type IsForeign } from './compare.ts';
import { type DriftCount, DriftCounts, type DriftSeries, type OnFirstSight } from './drift-counts.ts';

/** Checks that the upstream keeps to the OpenAPI document, in a sample of operations. */
export interface DriftWatch {
  /** Wraps the client of an operation. The answers stay the same, and are watched if the operation is in the sample. */
  readonly watch: (client: RestClient) => RestClient;
  readonly counts: () => readonly DriftCount[];
}

/** Makes a watch of a share of operations, from 0 to 1; at 0 clients stay as they are. */
export function createDriftWatch(rate: number, onFirstSight: OnFirstSight): DriftWatch {
  const observer = new Observer(onFirstSight);
  return {
    watch: rate === 0 ? (client) => client : (client) => new WatchedClient(client, observer, Math.random() < rate),
    counts: () => observer.counts.all(),
  };
}

/**
 * A client that shows its writes to the observer, and its reads if it is in the sample. It answers as the client that
 * it wraps.
 */
class WatchedClient implements RestClient {
  readonly #client: RestClient;
  readonly #observer: Observer;
  readonly #isSampled: boolean;

  constructor(client: RestClient, observer: Observer, isSampled: boolean) {
    this.#client = client;
    this.#observer = observer;
    this.#isSampled = isSampled;
  }

  getJson(operation: RestOperation, target: string): Promise<unknown> {
    return this.#seen(operation, target, this.#client.getJson(operation, target));
  }

  getCsv(operation: RestOperation, target: string): Promise<string> {
    return this.#client.getCsv(operation, target);
  }

  write(operation: RestOperation, target: string, body?: unknown): Promise<unknown> {
    this.#observer.written(body);
    const answer = this.#client.write(operation, target, body);
    return operation.method === 'GET' ? this.#seen(operation, target, answer) : answer;
  }

  /** Compares an answer on a promise chain of its own: the caller gets the same answer at the same time. */
  #seen(operation: RestOperation, target: string, answer: Promise<unknown>): Promise<unknown> {
    if (this.#isSampled) answer.then((body) => this.#observer.answered(operation, target, body), ignored);
    return answer;
  }
}

function ignored(): void {
  // The caller of the client gets the error.
}

/** Names that may be shown as names of columns. Any other name may be a value, or the name of a person. */
const plainName = /^[a-z][a-z\d_]{0,49}$/;

/** The most written names that are remembered: more than clients have a use for. */
const mostWrittenNames = 1000;

/** Compares answers, and counts differences. */
class Observer {
  readonly counts: DriftCounts;
  /** Columns set by clients that the document lacks. The upstream may answer them, but clients chose their names. */
  readonly #written = new Set<string>();

  constructor(onFirstSight: OnFirstSight) {
    this.counts = new DriftCounts(onFirstSight);
  }

  written(body: unknown): void {
    if (!isObject(body) || this.#written.size > mostWrittenNames) return;
    for (const name of Object.keys(body)) if (!documented.has(name)) this.#written.add(name);
  }

  answered({ route }: RestOperation, target: string, body: unknown): void {
    const operation = answers.operations[route];
    // The columns of a table are the expressions that a client has chosen.
    if (operation === undefined || body === undefined || /[?&]select=/.test(target)) return;
    const found = new Map<string, Difference>();
    const note = (difference: Difference): void =>
      void found.set(`${difference.prefix}${difference.column} ${difference.kind}`, difference);
    new Comparison(answers, foreignTo(target), note).compare(body, operation.body);
    for (const difference of found.values()) this.counts.add(this.#seriesOf(route, difference));
  }

  /** Undefined if a client may have chosen the name. */
  #seriesOf(route: string, { prefix, column, kind }: Difference): DriftSeries | undefined {
    const isNamed = kind !== 'unknown_column' || (plainName.test(column) && !this.#isWritten(column));
    return isNamed ? { route, column: `${prefix}${column}`, kind } : undefined;
  }

  #isWritten(column: string): boolean {
    return this.#written.size > mostWrittenNames || this.#written.has(column);
  }
}

/** All columns that the document has. */
const documented: ReadonlySet<string> = new Set(
  Object.values(answers.views).flatMap(({ columns }) => Object.keys(columns)),
);

/**
 * True for rows that the upstream may not show in full: global plugins of another organization than the one asked for.
 * With `@current` the organization is unknown, so every global plugin counts.
 */
export function foreignTo(target: string): IsForeign {
  const [, , , asked = ''] = target.split('/', 4);
  return (view: string, row: JsonObject) => {
    if (view !== 'Plugin') return false;
    const owner = row['organization_id'];
    if (asked === '@current') return row['is_global'] === true;
    return typeof owner === 'string' && owner.toLowerCase() !== decodeURIComponent(asked).toLowerCase();
  };
}
