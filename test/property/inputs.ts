import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  print,
  valueToLiteral,
} from 'graphql';
import { toGlobalId } from '../../src/graphql/ids.ts';
import type { Random } from './random.ts';
import { organizationIds } from './world.ts';

/** An operation whose arguments come as literals, as variables, and as variables within literals. */
export interface InputCase {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Where fields stand in an operation: their type, the kind of operation, and the field around them, if there is one. */
export type Place = readonly [type: string, operation: string, around: string];

/** Every place of the gateway's schema where fields have arguments. */
export const places: readonly Place[] = [
  ['Query', 'query', ''],
  ['Project', 'query', 'project(id: 1)'],
  ['Organization', 'query', `organization(id: "${organizationIds[0]}")`],
  ['Mutation', 'mutation', ''],
];

/** A random operation over fields with arguments; nearly all of its literals are valid, its variables need not be. */
export function inputCaseOf(random: Random, schema: GraphQLSchema, [name, operation, around]: Place): InputCase {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`no ${name}`);
  const writer = new Writer(random);
  const fields = Object.values(type.getFields()).filter(({ args }) => args.length > 0);
  const texts = Array.from(
    { length: random.number(1, 3) },
    (_, index) => `f${index}: ${writer.field(random.pick(fields))}`,
  );
  const selection = `{ ${texts.join(' ')} }`;
  const declared = writer.declarations.length === 0 ? '' : `(${writer.declarations.join(', ')})`;
  const query = `${operation} ${declared} ${around === '' ? selection : `{ ${around} ${selection} }`}`;
  return { query, variables: writer.variables };
}

class Writer {
  readonly declarations: string[] = [];
  readonly variables: Record<string, unknown> = {};
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  field({ name, args, type }: GraphQLField<unknown, unknown>): string {
    const given = args.flatMap((arg) => {
      const value = this.#argument(arg);
      return value === undefined ? [] : [`${arg.name}: ${value}`];
    });
    return `${name}${given.length === 0 ? '' : `(${given.join(', ')})`}${selectionOf(type)}`;
  }

  #argument({ name, type }: GraphQLArgument): string | undefined {
    // Together they are refused, and so is a cursor of another list.
    const isOdd = name === 'last' || name === 'after' || name === 'before';
    if (!isNonNullType(type) && !this.#random.once(isOdd ? 10 : 2)) return undefined;
    return this.#random.once(3) ? this.#literal(type) : this.#variable(type);
  }

  /** A literal, possibly with variables for some members of an object. */
  #literal(type: GraphQLInputType): string {
    const named = getNullableType(type);
    if (!isInputObjectType(named) || this.#random.once(2)) return literalOf(valueOf(this.#random, type, false), type);
    const members = this.#members(named).map((field) => {
      const isVariable = this.#random.once(3);
      return `${field.name}: ${isVariable ? this.#variable(field.type) : this.#literal(field.type)}`;
    });
    return `{ ${members.join(', ')} }`;
  }

  #members(type: GraphQLInputObjectType) {
    return Object.values(type.getFields()).filter(
      (field) => isNonNullType(field.type) || this.#random.number(0, 9) < 2,
    );
  }

  /** A variable of any type that may stand there, with or without a default and a value. */
  #variable(type: GraphQLInputType): string {
    const random = this.#random;
    const name = `v${this.declarations.length}`;
    const nullable = getNullableType(type);
    const hasDefault = random.once(3);
    const declared = isNonNullType(type) && hasDefault && random.once(2) ? nullable : type;
    const strict = !isNonNullType(declared) && !hasDefault && random.once(4) ? new GraphQLNonNull(nullable) : declared;
    const fallback = hasDefault ? ` = ${literalOf(valueOf(random, new GraphQLNonNull(nullable), false), type)}` : '';
    this.declarations.push(`$${name}: ${String(strict)}${fallback}`);
    const isGiven = random.number(0, 9) < (isNonNullType(strict) && !hasDefault ? 9 : 6);
    if (isGiven) this.variables[name] = valueOf(random, strict, random.once(8));
    return `$${name}`;
  }
}

function literalOf(value: unknown, type: GraphQLInputType): string {
  const literal = valueToLiteral(value, type);
  if (literal === undefined) throw new Error(`no literal of ${String(type)}: ${JSON.stringify(value)}`);
  return print(literal);
}

/** Of an object a little, so that it is read; of a list the first few. */
function selectionOf(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named)) return ' { __typename id }';
  if (named.name.endsWith('Connection')) return ' { nodes { id } pageInfo { hasNextPage } }';
  const fields = Object.values(named.getFields()).filter(({ args }) => args.length === 0);
  if (fields.some(({ name }) => name === 'id')) return ' { id }';
  return ` { ${fields.map((field) => `${field.name}${isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'}`).join(' ')} }`;
}

const anything: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  '',
  'text',
  '3',
  [],
  [null],
  {},
  { id: 1 },
  [[1]],
];

/** A value of a type: one that fits, or any. */
function valueOf(random: Random, type: GraphQLInputType, wrong: boolean): unknown {
  if (wrong && random.once(3)) return random.pick(anything);
  if (isNonNullType(type)) return presentValueOf(random, type.ofType, wrong);
  return random.once(8) ? null : presentValueOf(random, type, wrong);
}

function presentValueOf(random: Random, type: GraphQLInputType, wrong: boolean): unknown {
  if (isListType(type)) {
    const item: GraphQLInputType = type.ofType;
    return Array.from({ length: random.number(0, 3) }, () => valueOf(random, item, wrong));
  }
  if (isEnumType(type)) return random.pick(wrong ? ['NOPE', 'UNKNOWN', 1] : type.getValues().map(({ name }) => name));
  if (isInputObjectType(type)) return objectOf(random, type, wrong);
  return random.pick(scalars[getNamedType(type).name] ?? anything);
}

function objectOf(random: Random, type: GraphQLInputObjectType, wrong: boolean): unknown {
  const fields = Object.values(type.getFields()).filter(
    (field) => (isNonNullType(field.type) && !(wrong && random.once(3))) || random.number(0, 9) < 2,
  );
  const members = fields.map(({ name, type: of }) => [name, valueOf(random, of, wrong)] as const);
  return Object.fromEntries(wrong && random.once(4) ? [...members, ['nope', 1]] : members);
}

/** Values that a scalar takes; resolvers and the upstream may refuse some of them. */
const scalars: Readonly<Record<string, readonly unknown[]>> = {
  ID: [
    ...Array.from({ length: 12 }, () => '1'),
    '2',
    '99',
    '@current',
    'a/../b',
    organizationIds[0],
    toGlobalId({ type: 'Project', scope: '', id: '1' }),
    toGlobalId({ type: 'Dashboard', scope: '1', id: '101' }),
    toGlobalId({ type: 'Plugin', scope: organizationIds[0] ?? '', id: '1' }),
  ],
  String: ['', 'text', '"quoted" \\ \u2603 \u{1f600}', '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8', '1'],
  Int: [0, 1, 2, 3, 7, 9, 10, 11, -1, 2_147_483_647],
  Boolean: [true, false],
  DateTime: ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00.123456+02:00'],
  TimeZone: ['UTC', 'Europe/Berlin'],
  UUID: ['018f1c4e-0000-7000-8000-00000000000a'],
  JSON: [{}, { a: [1, { b: null }], c_d: 'e' }, { id: 1 }, -0.5, 'text', true, [], [[], 'x']],
};
