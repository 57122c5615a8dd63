import {
  type ConstObjectFieldNode,
  type ConstValueNode,
  GraphQLError,
  GraphQLID,
  GraphQLScalarType,
  Kind,
} from 'graphql';
import { exactNumber } from '../rest/json.ts';
import { exactDigits, isObject } from '../rest/values.ts';
import { uuid } from './ids.ts';
import { quoted, UserInputError } from './input-error.ts';

/**
 * A date-time. As input, it is checked and turned into UTC with a `Z`. In answers it is passed on unchanged, because
 * `toDateTime` has already given the column its `Z`.
 */
export const DateTime = textScalar('DateTime', 'an ISO 8601 date-time such as 2024-05-01T10:00:00Z', toUtc);

/** An IANA time zone name, legacy aliases included, in its exact spelling. */
export const TimeZone = textScalar('TimeZone', 'an IANA time zone such as Europe/Berlin', (text) =>
  isTimeZone(text) ? text : undefined,
);

/** A UUID in its 36-character form. */
export const UUID = textScalar('UUID', 'a UUID', (text) => (uuid.test(text) ? text : undefined));

/** Any JSON value; integers keep every digit in both directions. */
export const JSONValue = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  coerceOutputValue: (value) => value,
  coerceInputValue: (value) => value,
  coerceInputLiteral: jsonOfLiteral,
  valueToLiteral: literalOfJson,
});

const coerceId = GraphQLID.coerceInputValue.bind(GraphQLID);

/** Lets ids be integers beyond 2^53 in variables, too. This affects all schemas, because the type is graphql's own. */
export function acceptExactIds(): void {
  GraphQLID.coerceInputValue = (value) => exactDigits(value) ?? coerceId(value);
}

/** A scalar over text. `check` returns the text that is sent upstream; undefined if the value does not fit. */
function textScalar(
  name: string,
  expected: string,
  check: (text: string) => string | undefined,
): GraphQLScalarType<string, string> {
  const parse = (value: unknown): string => {
    const checked = typeof value === 'string' ? check(value) : undefined;
    if (checked === undefined) throw new UserInputError(`Expected ${expected}, but got ${quoted(value)}.`);
    return checked;
  };
  return new GraphQLScalarType<string, string>({
    name,
    coerceOutputValue: (value) => {
      if (typeof value !== 'string') throw new GraphQLError(`${name} cannot represent this value`);
      return value;
    },
    coerceInputValue: parse,
    coerceInputLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
  });
}

function jsonOfLiteral(node: ConstValueNode): unknown {
  switch (node.kind) {
    case Kind.INT:
      return exactNumber(node.value);
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map(jsonOfLiteral);
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, jsonOfLiteral(value)]));
    case Kind.NULL:
      return null;
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
  }
}

/** The literal for a variable's value. graphql puts it where the variable stands within a larger literal. */
function literalOfJson(value: unknown): ConstValueNode {
  const digits = typeof value === 'number' ? String(value) : exactDigits(value);
  if (digits !== undefined) return { kind: /^-?\d+$/.test(digits) ? Kind.INT : Kind.FLOAT, value: digits };
  if (typeof value === 'string') return { kind: Kind.STRING, value };
  if (typeof value === 'boolean') return { kind: Kind.BOOLEAN, value };
  if (Array.isArray(value)) return { kind: Kind.LIST, values: value.map(literalOfJson) };
  if (!isObject(value)) return { kind: Kind.NULL };
  const fields = Object.entries(value).map(([name, member]): ConstObjectFieldNode => {
    return { kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value: literalOfJson(member) };
  });
  return { kind: Kind.OBJECT, fields };
}

const dateTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i;

/** The same instant in UTC with a `Z`. The digits of its fraction stay the same. A text without a zone is in UTC. */
function toUtc(text: string): string | undefined {
  const match = dateTime.exec(text);
  if (match === null) return undefined;
  const [, date = '', minutes = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match;
  const local = `${date}T${minutes}${seconds}`;
  // A date such as February 30 would roll over silently.
  const plain = Date.parse(`${local}Z`);
  if (Number.isNaN(plain) || new Date(plain).toISOString().slice(0, 19) !== local) return undefined;
  const instant = new Date(plain - offsetMilliseconds(zone));
  return Number.isNaN(instant.getTime()) ? undefined : `${instant.toISOString().slice(0, 19)}${fraction}Z`;
}

function offsetMilliseconds(zone: string): number {
  const match = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]{1,63}$/.test(name)) return false;
  try {
    // Node 24 has no Temporal. Its Intl gives some aliases other names, so there the upstream decides about the
    // spelling.
    if (!('Temporal' in globalThis)) return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
    // Temporal accepts a name in any case, but the upstream only in the exact case, which `timeZoneId` has.
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}
