import { ConfigError } from '../config-error.ts';
import { isList, isObject } from '../rest/values.ts';
import type { DeprecatedUse, UsageRow } from '../telemetry/client-usage.ts';
import { readJsonObject } from './documents.ts';

export interface RecordedUsage {
  readonly operations: readonly UsageRow[];
  readonly deprecated: readonly DeprecatedUse[];
}

/** A client that uses what a change breaks. */
export interface HitClient {
  /** Empty if the client does not name itself. */
  readonly client: string;
  readonly version: string;
  readonly operations: number;
  readonly lastAt: string;
}

/** Reads usage from a file. Throws a ConfigError if the file holds anything else. */
export function readUsage(file: string): RecordedUsage {
  const expected = 'an answer of GET /admin/usage, as JSON';
  const { operations, deprecated } = readJsonObject(file, expected);
  if (isList(operations) && operations.every(isUsageRow) && isList(deprecated) && deprecated.every(isDeprecatedUse)) {
    return { operations, deprecated };
  }
  throw new ConfigError(`${file}: expected ${expected}`);
}

/**
 * The clients that use any of these coordinates or documents. An operation that was sent without the id of a document
 * is found by its name.
 */
export function clientsHit(
  { operations, deprecated }: RecordedUsage,
  coordinates: readonly string[],
  documents: readonly { readonly id: string; readonly operations: readonly string[] }[],
): readonly HitClient[] {
  const ids = new Set(documents.map(({ id }) => id));
  const names = new Set(documents.flatMap((document) => document.operations));
  const hits = [
    ...operations.filter(({ document, operation }) => (document === null ? names.has(operation) : ids.has(document))),
    ...deprecated
      .filter(({ coordinate }) => coordinates.includes(coordinate))
      .map((use) => ({ ...use, operations: use.uses })),
  ];
  const byClient = Map.groupBy(hits, ({ client, version }) => `${client}\n${version}`);
  return [...byClient.values()].map((rows) => ({
    client: rows[0]?.client ?? '',
    version: rows[0]?.version ?? '',
    // One operation may be in both `operations` and `deprecated`, so the larger of the two sums counts.
    operations: Math.max(sumOf(rows.filter((row) => 'restCalls' in row)), sumOf(rows.filter((row) => 'uses' in row))),
    lastAt: rows.reduce((last, { lastAt }) => (lastAt > last ? lastAt : last), ''),
  }));
}

function sumOf(rows: readonly { readonly operations: number }[]): number {
  return rows.reduce((sum, { operations }) => sum + operations, 0);
}

function isUsageRow(row: unknown): row is UsageRow {
  if (!isObject(row)) return false;
  const { client, version, operation, document, operations, lastAt } = row;
  const isDocument = document === null || typeof document === 'string';
  return [client, version, operation, lastAt].every(isText) && isDocument && typeof operations === 'number';
}

function isDeprecatedUse(use: unknown): use is DeprecatedUse {
  if (!isObject(use)) return false;
  const { client, version, coordinate, uses, lastAt } = use;
  return [client, version, coordinate, lastAt].every(isText) && typeof uses === 'number';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
