import { messageOf } from '../../error-text.ts';
import { type Log, LogThrottle } from '../../log.ts';
import { answers } from '../generated/answers.ts';
import type { RestOperation } from '../rest-operations.ts';
import { isObject, type JsonObject } from '../values.ts';
import { Comparison, type Difference, type DriftKind, type IsForeign } from './compare.ts';

/** Differences of one kind in one column of the answers of one route. */
export interface DriftSeries {
  /** Such as `/api/projects/:id/dashboards/`. */
  readonly route: string;
  readonly column: string;
  readonly kind: DriftKind | 'other';
}

/** The maximum number of series. */
export const mostDriftSeries = 50;

/** The series of all further differences. */
export const otherDrift = { route: 'other', column: 'other', kind: 'other' } as const;

/** Names that may be shown. Any other name may be a value, or the name of a person. */
const plainName = /^[a-z][a-z\d_]{0,49}$/;

/** The line of the log about a comparison that has thrown. */
const comparisonFailed = 'an answer of the upstream could not be compared with the OpenAPI document';

/** The maximum number of remembered names that clients have written. It is more than clients need. */
const mostWrittenNames = 1000;

/**
 * Compares a random share (`rate`) of the upstream's answers with the OpenAPI document. Logs each series once. Counts
 * differences without a series of their own as `otherDrift`.
 */
export class DriftWatch {
  readonly #rate: number;
  readonly #log: Log;
  readonly #failures = new LogThrottle();
  readonly #counts = new Map<string, DriftSeries & { count: number }>();
  /**
   * Columns that clients have written and the OpenAPI document lacks. Log and metrics do not name them, because clients
   * chose the names.
   */
  readonly #written = new Set<string>();

  constructor(rate: number, log: Log) {
    this.#rate = rate;
    this.#log = log;
  }

  /** The number of answers with a difference, by series. */
  get counts(): readonly (DriftSeries & { readonly count: number })[] {
    return [...this.#counts.values()];
  }

  /** Notes the columns of a body that a client writes. */
  written(body: unknown): void {
    if (!isObject(body) || this.#written.size > mostWrittenNames) return;
    for (const name of Object.keys(body)) if (!documented.has(name)) this.#written.add(name);
  }

  /**
   * Compares an answer if it is in the sample, and counts its differences. Never throws, because a failed comparison
   * must not make the call fail.
   */
  answered({ id, route }: RestOperation, target: string, body: unknown): void {
    // Only the answers to GETs have a shape.
    const shape = answers.operations[id];
    if (shape === undefined || body === undefined || Math.random() >= this.#rate) return;
    // The columns of a table are expressions of a client, and a CSV text has none to compare.
    if (/[?&](?:select|format)=/.test(target)) return;
    const found = new Map<string, Difference>();
    const note = (difference: Difference): void =>
      void found.set(`${difference.prefix}${difference.column} ${difference.kind}`, difference);
    try {
      new Comparison(answers, foreignTo(target), note).compare(body, shape);
    } catch (error) {
      if (this.#failures.mayLog(route)) this.#log('error', comparisonFailed, { route, reason: messageOf(error) });
    }
    for (const difference of found.values()) this.#count(route, difference);
  }

  #count(route: string, { prefix, column, kind }: Difference): void {
    const series = { route, column: `${prefix}${column}`, kind };
    const isNamed = kind !== 'unknown_column' || (plainName.test(column) && !this.#isWritten(column));
    const mayBegin = this.#counts.size - (this.#counts.has(keyOf(otherDrift)) ? 1 : 0) < mostDriftSeries;
    const counted = isNamed && (mayBegin || this.#counts.has(keyOf(series))) ? series : otherDrift;
    const known = this.#counts.get(keyOf(counted));
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    this.#counts.set(keyOf(counted), { ...counted, count: 1 });
    this.#log('warn', 'the upstream differs from the OpenAPI document', counted);
  }

  /** True if a client may have chosen the name of a column. */
  #isWritten(column: string): boolean {
    return this.#written.size > mostWrittenNames || this.#written.has(column);
  }
}

function keyOf({ route, column, kind }: DriftSeries): string {
  return `${route} ${column} ${kind}`;
}

/** All columns that the document has. */
const documented: ReadonlySet<string> = new Set(
  Object.values(answers.views).flatMap(({ columns }) => Object.keys(columns)),
);

/**
 * True for rows from which the upstream may leave columns out: global plugins of another organization than the one
 * asked for. With `@current` the organization is unknown, so every global plugin counts.
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
