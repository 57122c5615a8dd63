import { invalid } from './errors.ts';
import type { EventRow } from './event-rows.ts';
import { memberOf, objectOf, textOfJson } from './json.ts';

/** The value that an expression has for one event. */
export type Expression = (event: EventRow) => unknown;

/**
 * Reads one expression of `select` or `where`, a small part of the query language: a column, `properties.x`,
 * `person.properties.x`, a literal, or two of these around one of `= == != < <= > >= like ilike`. `attr` is the parameter
 * that is at fault if it cannot be read.
 */
export function toExpression(text: string, attr: string): Expression {
  const comparison = comparisonPattern.exec(text);
  const [, left, operator, right] = comparison ?? [];
  if (left === undefined || operator === undefined || right === undefined) return toOperand(text.trim(), attr);
  const compare = comparisons[operator.toLowerCase()];
  if (compare === undefined) throw unreadable(text, attr);
  const one = toOperand(left, attr);
  const other = toOperand(right, attr);
  return (event) => compare(one(event), other(event));
}

/** An operand, an operator, an operand; an operator inside quotes belongs to the literal. */
const comparisonPattern =
  /^\s*('(?:[^'\\]|\\.)*'|[^\s'=!<>]+)\s*(==?|!=|<=?|>=?|\bi?like\b)\s*('(?:[^'\\]|\\.)*'|[^\s'=!<>]+)\s*$/i;

function toOperand(text: string, attr: string): Expression {
  const literal = literals.get(text.toLowerCase());
  if (literal !== undefined) return () => literal.value;
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => Number(text);
  const quoted = /^'((?:[^'\\]|\\.)*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return () => quoted.replaceAll(/\\(.)/g, '$1');
  return toColumn(text) ?? fail(text, attr);
}

const literals = new Map<string, { readonly value: unknown }>([
  ['true', { value: true }],
  ['false', { value: false }],
  ['null', { value: null }],
]);

function toColumn(text: string): Expression | undefined {
  const property = /^(person\.)?properties\.(\S+)$/.exec(text);
  const name = property?.[2];
  if (name === undefined) return Object.hasOwn(columns, text) ? columns[text] : undefined;
  return ({ properties, person }) => memberOf(property?.[1] ? objectOf(person?.properties) : properties, name);
}

const columns: Readonly<Record<string, Expression>> = {
  '*': (event) => event,
  id: ({ id }) => id,
  uuid: ({ id }) => id,
  event: ({ event }) => event,
  distinct_id: (event) => event.distinct_id,
  timestamp: ({ timestamp }) => timestamp,
  properties: ({ properties }) => properties,
  person: ({ person }) => person,
  person_id: ({ person }) => person?.uuid ?? null,
  elements_chain: (event) => event.elements_chain,
};

const comparisons: Readonly<Record<string, (one: unknown, other: unknown) => boolean>> = {
  '=': isSame,
  '==': isSame,
  '!=': (one, other) => !isSame(one, other),
  '<': (one, other) => order(one, other) < 0,
  '<=': (one, other) => order(one, other) <= 0,
  '>': (one, other) => order(one, other) > 0,
  '>=': (one, other) => order(one, other) >= 0,
  like: (one, other) => toPattern(other, '').test(textOfJson(one)),
  ilike: (one, other) => toPattern(other, 'i').test(textOfJson(one)),
};

function isSame(one: unknown, other: unknown): boolean {
  return textOfJson(one) === textOfJson(other);
}

/** Numbers by size, the rest as text; null is neither before nor after anything. */
function order(one: unknown, other: unknown): number {
  if (one === null || other === null) return Number.NaN;
  const [a, b] = [textOfJson(one), textOfJson(other)];
  const difference = Number(a) - Number(b);
  return Number.isNaN(difference) ? Number(a > b) - Number(a < b) : difference;
}

/** `%` stands for any text, `_` for any character. */
function toPattern(value: unknown, flags: string): RegExp {
  const parts = textOfJson(value).split(/([%_])/);
  const source = parts.map((part) => wildcards.get(part) ?? RegExp.escape(part)).join('');
  return new RegExp(`^${source}$`, `s${flags}`);
}

const wildcards = new Map([
  ['%', '.*'],
  ['_', '.'],
]);

function fail(text: string, attr: string): never {
  throw unreadable(text, attr);
}

function unreadable(text: string, attr: string): Error {
  return invalid(attr, `Cannot read the expression "${text}".`);
}
