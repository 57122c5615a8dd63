import {
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { toGlobalId } from '../graphql/ids.ts';

const uuid = '018f3c5e-7a31-7c11-9d2b-0e5a4c1f6b77';

/** Values of each scalar that make a difference to what is read: ids by what they may name, switches both ways. */
const scalars: Readonly<Record<string, (number: number) => readonly unknown[]>> = {
  Boolean: () => [true, false],
  DateTime: () => ['2024-05-01T10:00:00Z'],
  Float: () => [1],
  ID: (number) => [
    `${number}`,
    toGlobalId({ type: 'Dashboard', scope: '1', id: `${number}` }),
    toGlobalId({ type: 'Project', scope: '', id: `${number}` }),
    toGlobalId({ type: 'Plugin', scope: uuid, id: `${number}` }),
    toGlobalId({ type: 'Event', scope: '1', id: `${number}` }),
    uuid,
  ],
  JSON: () => [{}],
  String: () => ['text'],
  TimeZone: () => ['UTC'],
  UUID: () => [uuid],
};

/** Values that a variable of a type may have, of those that cost differently; `many` stands for a large number. */
export function samplesOf(type: GraphQLInputType, many: number, number = 1): readonly unknown[] {
  const known = getNullableType(type);
  if (isListType(known)) {
    const one = samplesOf(known.ofType, many).length;
    return Array.from({ length: one }, (_value, at) => listOf(known.ofType, many, at));
  }
  if (isInputObjectType(known)) {
    const fields = Object.values(known.getFields());
    const owners = ['1', uuid];
    return owners.map((owner) =>
      Object.fromEntries(
        fields.flatMap(({ name, type: inner }) => {
          if (name === 'id') return [[name, '1']];
          if (name === 'projectId' || name === 'organizationId') return [[name, owner]];
          return isNonNullType(inner) ? [[name, samplesOf(inner, many)[0]]] : [];
        }),
      ),
    );
  }
  if (isEnumType(known)) return [known.getValues()[0]?.name];
  return known.name === 'Int' ? [many] : (scalars[known.name]?.(number) ?? []);
}

/** As many different values as may be given, all of the same sort. */
function listOf(type: GraphQLInputType, many: number, sort: number): readonly unknown[] {
  return Array.from({ length: many }, (_value, at) => samplesOf(type, many, at + 1)[sort]);
}
