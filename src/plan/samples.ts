import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLString,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { toGlobalId } from '../graphql/ids.ts';
import { current } from '../rest/paths.ts';

/** A UUID for each number. */
function uuidOf(number: number): string {
  return `018f3c5e-7a31-7c11-9d2b-${`${number}`.padStart(12, '0')}`;
}

/** Values of each scalar that make a difference to what is read: ids by what they may name, switches both ways. */
const scalars: Readonly<Record<string, (number: number) => readonly unknown[]>> = {
  Boolean: () => [true, false],
  DateTime: () => ['2024-05-01T10:00:00Z'],
  Float: () => [1],
  ID: (number) => [
    `${number}`,
    // Objects of one list may be found in a page of it; those of many lists have as many parents.
    toGlobalId({ type: 'Dashboard', scope: '1', id: `${number}` }),
    toGlobalId({ type: 'Dashboard', scope: `${number}`, id: `${number}` }),
    toGlobalId({ type: 'Project', scope: '', id: `${number}` }),
    toGlobalId({ type: 'Plugin', scope: uuidOf(1), id: `${number}` }),
    toGlobalId({ type: 'Plugin', scope: uuidOf(number), id: `${number}` }),
    toGlobalId({ type: 'Event', scope: '1', id: `${number}` }),
    toGlobalId({ type: 'Event', scope: `${number}`, id: `${number}` }),
    uuidOf(number),
    toGlobalId({ type: 'Organization', scope: '', id: uuidOf(number) }),
    current,
  ],
  Int: () => [0],
  JSON: () => [{}],
  String: (number) => [`text ${number}`],
  TimeZone: () => ['UTC'],
  UUID: (number) => [uuidOf(number)],
};

/**
 * Values that a variable of a type may have, of those that cost differently; `many` stands for a large number. Those of
 * another `number` name other objects and other lists.
 */
export function samplesOf(type: GraphQLInputType, many: number, number: number): readonly unknown[] {
  const known = getNullableType(type);
  if (isListType(known)) {
    const one = samplesOf(known.ofType, many, number).length;
    return [...Array.from({ length: one }, (_value, at) => listOf(known.ofType, many, number, at)), []];
  }
  if (isInputObjectType(known)) return objectsOf(known, many, number);
  if (isEnumType(known)) return [known.getValues()[0]?.name];
  const samples = scalars[known.name]?.(number) ?? [];
  return known.name === 'Int' ? [many, ...samples] : samples;
}

/** The required members, of either sort of owner; and, for a filter, one of its texts. */
function objectsOf(type: GraphQLInputObjectType, many: number, number: number): readonly unknown[] {
  const fields = Object.values(type.getFields());
  const filtered = fields.find(({ type: inner }) => getNullableType(inner) === GraphQLString);
  return ['1', uuidOf(1)].map((owner) =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const { name, type: inner } = field;
        if (name === 'id') return [[name, '1']];
        if (name === 'projectId' || name === 'organizationId') return [[name, owner]];
        return isNonNullType(inner) || field === filtered ? [[name, samplesOf(inner, many, number)[0]]] : [];
      }),
    ),
  );
}

/** As many different values as may be given, all of the same sort. */
function listOf(type: GraphQLInputType, many: number, number: number, sort: number): readonly unknown[] {
  return Array.from({ length: many }, (_value, at) => samplesOf(type, many, number + at)[sort]);
}
