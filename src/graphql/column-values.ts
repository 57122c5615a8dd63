import { type GraphQLOutputType, getNullableType, isEnumType, isListType, isNamedType } from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import { exactDigits, idText, isObject } from '../rest/values.ts';
import { enumNames } from './enums.ts';
import { UserRecord } from './records.ts';

/**
 * What becomes of a column's value, null excepted. An Error stands for a value that the type cannot hold; executors take
 * it as the failure of that field.
 */
export type Convert = (value: unknown) => unknown;

/** The conversion for a field's type: what GraphQL's own leaf types accept in results (specification §3.5), made cheap. */
export function converterOf(type: GraphQLOutputType): Convert {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return listOf(converterOf(nullable.ofType));
  if (isEnumType(nullable)) return enumNames(nullable.name);
  const convert = isNamedType(nullable) ? byName[nullable.name] : undefined;
  if (convert === undefined) throw new Error(`${String(type)} is no type of a column: the field needs a resolver`);
  return convert;
}

const byName: Readonly<Record<string, Convert>> = {
  ID: (value) => idText(value) ?? invalid(),
  String: toText,
  DateTime: onlyText,
  TimeZone: onlyText,
  UUID: onlyText,
  Int: (value) => (typeof value === 'number' && (value | 0) === value ? value : invalid()),
  Boolean: (value) => (typeof value === 'boolean' ? value : invalid()),
  JSON: (value) => value,
  User: (value) => (isObject(value) ? new UserRecord(value) : invalid()),
};

/** Numbers, also those of more digits than a double holds, and booleans are written out. */
function toText(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return exactDigits(value) ?? invalid();
}

function onlyText(value: unknown): unknown {
  return typeof value === 'string' ? value : invalid();
}

/** Lists are not copied unless an item has to change. */
function listOf(convert: Convert): Convert {
  const convertItem: Convert = (item) => (item === null || item === undefined ? null : convert(item));
  return (value) => {
    if (!Array.isArray(value)) return invalid();
    const items: readonly unknown[] = value;
    return items.every((item) => item === convertItem(item)) ? items : items.map(convertItem);
  };
}

function invalid(): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
