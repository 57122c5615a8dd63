import { type GraphQLOutputType, getNamedType, isEnumType, isListType } from 'graphql';
import type { Json } from '../support/replies.ts';
import { type Column, fieldNameOf, leafFieldsOf } from './document.ts';

/** A column with the field that answers it. */
export interface Mapped {
  readonly column: string;
  readonly field: string;
  readonly type: GraphQLOutputType;
  /** Its place among the columns of its type; what its values are told apart by. */
  readonly index: number;
}

/** A value that the upstream sends for a column, and the gateway's answer for it. */
export interface Value {
  readonly sent: Json;
  readonly answered: Json;
}

/** The text within refused values, which no answer may ever quote. */
export const secret = 'hunter2';

/** The values of each column that tell every two columns of a type apart: one for each binary digit of an index. */
export const turns = [0, 1, 2, 3, 4, 5, 6];

/** The leaf columns of a type with their fields; `all` are those of its detail view. Throws for one without a field. */
export function mapColumns(type: string, columns: readonly Column[], all: readonly Column[]): Mapped[] {
  const fields = leafFieldsOf(type);
  return leafColumns(type, columns).map(({ name: column }) => {
    const field = fieldNameOf(column);
    const answer = fields.get(field);
    if (answer === undefined) throw new Error(`no field ${type}.${field} for the column ${column}`);
    return { column, field, type: answer, index: all.findIndex(({ name }) => name === column) };
  });
}

/** Without objects, and without the id of a node, which is a field of another name. */
function leafColumns(type: string, columns: readonly Column[]): readonly Column[] {
  return columns.filter(({ name, isObject }) => !isObject && (name !== 'id' || type === 'User'));
}

/** The values of each enum, as the upstream has them and as the gateway names them. */
export const enumValues: Readonly<Record<string, readonly (readonly [Json, string])[]>> = {
  PluginType: [
    ['local', 'LOCAL'],
    ['custom', 'CUSTOM'],
    ['repository', 'REPOSITORY'],
    ['source', 'SOURCE'],
  ],
  RestrictionLevel: [
    [21, 'EVERYONE_CAN_EDIT'],
    [37, 'ONLY_INVITED_CAN_EDIT'],
  ],
  WeekStartDay: [
    [0, 'SUNDAY'],
    [1, 'MONDAY'],
  ],
};

/** A value of a column: one for each turn, unlike the values of other columns. */
export function valueOf({ column, type, index }: Mapped, turn: number): Value {
  const named = getNamedType(type);
  if (isListType(type)) {
    const items = named.name === 'JSON' ? [{ [column]: turn }, { deepInside: [null] }] : [`${column} ${turn}`, null];
    return same(turn === 6 ? [] : items);
  }
  const bit = (index >> turn) % 2;
  if (isEnumType(named)) {
    const known = enumValues[named.name] ?? [];
    const [sent = null, answered = null] = known[known.length > 2 ? turn % known.length : bit] ?? [];
    return { sent, answered };
  }
  switch (named.name) {
    case 'Boolean':
      return same(bit === 1);
    case 'Int':
      return same(turn === 6 ? -2_147_483_648 : index * 1000 + turn);
    case 'ID':
      return { sent: index * 1000 + turn, answered: `${index * 1000 + turn}` };
    case 'JSON':
      return same([{ [column]: { keep_case: turn } }, [column], column, index + 0.5, [[], {}], false, ''][turn] ?? 0);
    case 'DateTime':
      return (
        dateTimes.map(([sent = '', answered = '']) => ({
          sent: `2024-05-01T10:00:${index + 10}${sent}`,
          answered: `2024-05-01T10:00:${index + 10}${answered}`,
        }))[turn] ?? same(null)
      );
    case 'UUID':
      return same(`018f1c4e-0000-7000-8000-0000000${turn}00${index + 10}`);
    case 'TimeZone':
      return same(['Europe/Berlin', 'UTC', 'US/Pacific', 'GMT+0', 'Not/Known', 'W-SU', ''][turn] ?? '');
    default:
      return same(turn === 6 ? '' : `${column} "${turn}" ☃`);
  }
}

/** The columns with their values, as the upstream sends them. */
export function sentBy(columns: readonly Mapped[], turn: number): Record<string, Json> {
  return Object.fromEntries(columns.map((mapped) => [mapped.column, valueOf(mapped, turn).sent]));
}

/** The fields with their values, as the gateway answers them. */
export function answeredBy(columns: readonly Mapped[], turn: number): Record<string, Json> {
  return Object.fromEntries(columns.map((mapped) => [mapped.field, valueOf(mapped, turn).answered]));
}

/** The fields as a selection. */
export function fieldNames(columns: readonly Mapped[]): string {
  return columns.map(({ field }) => field).join(' ');
}

/** Values that a column's type cannot hold, each with the secret in it if it can be. */
export function wrongValuesOf({ type }: Mapped): readonly Json[] {
  const named = getNamedType(type);
  const object = { [secret]: secret };
  if (isListType(type)) return [secret, object, 7];
  if (isEnumType(named) || named.name === 'JSON') return [];
  switch (named.name) {
    case 'Boolean':
      return [secret, object, [secret]];
    case 'Int':
      return [secret, object, 1.5, 2_147_483_648];
    case 'ID':
      return [object, [secret], true, 1.5];
    case 'String':
      return [object, [secret]];
    default:
      return [object, [secret], 1234567, true];
  }
}

/** Values that an enum does not know, of any kind. */
export const unknownEnumValues: readonly Json[] = ['inline', 99, -1, '21', 'LOCAL', 'UNKNOWN', '__proto__', 2.5, {}];

/** True if a column is an enum. */
export function isEnum({ type }: Mapped): boolean {
  return isEnumType(getNamedType(type));
}

/** The ends of date-times as they are sent and answered: what has a zone keeps it as it is. */
const dateTimes: readonly (readonly string[])[] = [
  ['Z', 'Z'],
  ['.123456Z', '.123456Z'],
  ['+00:00', '+00:00'],
  ['.1+00:00', '.1+00:00'],
  ['', 'Z'],
  ['.12', '.12Z'],
  ['z', 'z'],
];

function same(value: Json): Value {
  return { sent: value, answered: value };
}
