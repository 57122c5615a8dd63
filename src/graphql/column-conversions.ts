import { UpstreamError } from '../rest/errors.ts';
import { exactDigits, idText, isObject, type Row } from '../rest/values.ts';
import { UserRecord } from './records.ts';

/** A row, and the reason why the columns that the row lacks could not be read. */
export interface WithRow {
  readonly row: Row;
  readonly failure: Error | undefined;
}

// Fast versions of the conversions of GraphQL's own leaf types in results (specification §3.5). Each takes a column's
// value, which is not null. It returns an Error for a value that the type cannot hold; executors treat that as the
// failure of the field.

/** The value of a field whose column is null or missing. */
export function absent({ failure }: WithRow, value: null | undefined): Error | null {
  return value === undefined ? (failure ?? null) : null;
}

/** The text of an id. A number keeps all of its digits. */
export function toId(value: unknown): string | Error {
  return idText(value) ?? invalid();
}

/** A value as text. Numbers and booleans are written out, with every digit even if a double cannot hold them. */
export function toText(value: unknown): string | Error {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return exactDigits(value) ?? invalid();
}

/** A text. Any other value is an error. */
export function onlyText(value: unknown): string | Error {
  return typeof value === 'string' ? value : invalid();
}

/** A date-time as it is, but with a `Z` if it has no zone: the upstream's times are in UTC. */
export function toDateTime(value: unknown): string | Error {
  if (typeof value !== 'string') return invalid();
  return value.endsWith('Z') || !withoutZone.test(value) ? value : `${value}Z`;
}

const withoutZone = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/i;

/** An integer of 32 bits. Any other value is an error. */
export function onlyInt(value: unknown): number | Error {
  return typeof value === 'number' && (value | 0) === value ? value : invalid();
}

/** A boolean. Any other value is an error. */
export function onlyBoolean(value: unknown): unknown {
  return typeof value === 'boolean' ? value : invalid();
}

/** JSON of any shape. */
export function anything(value: unknown): unknown {
  return value;
}

/** The record of a user that stands within a row. */
export function toUser(value: unknown): UserRecord | Error {
  return isObject(value) ? new UserRecord(value) : invalid();
}

/** Converts the items of a list. The list is copied only if an item changes. */
export function listOf(value: unknown, convert: (item: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return invalid();
  const convertItem = (item: unknown): unknown => (item === null || item === undefined ? null : convert(item));
  const items: readonly unknown[] = value;
  return items.every((item) => item === convertItem(item)) ? items : items.map(convertItem);
}

function invalid(): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
