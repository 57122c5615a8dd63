import {
  type GraphQLInputField,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { exactNumber } from '../rest/json.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { enumRestValue } from './enums.ts';
import { restNameOf } from './facts.ts';
import { parseIdWithin, parseReference } from './ids.ts';
import { quoted, UserInputError } from './input-error.ts';

/** Input fields that address the object or carry what the contract does not name; all others are body fields. */
const notInBody: ReadonlySet<string> = new Set(['id', 'projectId', 'organizationId', 'extra']);

/** Which mutation's input it is. */
type MutationInfo = Pick<GraphQLResolveInfo, 'parentType' | 'fieldName'>;

/**
 * The request body of a mutation: the input's fields under their REST names, only those that were given, null as null;
 * then the members of `extra`. `projectId` is the project whose dashboards the input may refer to, where it is known.
 */
export function toRequestBody(input: object, info: MutationInfo, projectId?: string): JsonObject {
  const fields = inputFieldsOf(info);
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    const field = fields[name];
    if (field === undefined || notInBody.has(name) || value === undefined) continue;
    entries.push([restNameOf(field), toRestValue(field, value, projectId)]);
  }
  const extra = 'extra' in input ? extraEntries(input.extra, new Set(entries.map(([name]) => name))) : [];
  // `fromEntries` defines own properties, so that a member named `__proto__` stays one.
  return Object.fromEntries([...entries, ...extra]);
}

function inputFieldsOf({ parentType, fieldName }: MutationInfo): Readonly<Record<string, GraphQLInputField>> {
  const type = parentType.getFields()[fieldName]?.args.find(({ name }) => name === 'input')?.type;
  const named = type === undefined ? undefined : getNullableType(type);
  return isInputObjectType(named) ? named.getFields() : {};
}

function toRestValue(field: GraphQLInputField, value: unknown, projectId: string | undefined): unknown {
  if (value === null) return null;
  const type = getNamedType(field.type);
  if (type.name !== 'ID' && !isEnumType(type)) return value;
  const text = typeof value === 'string' ? value : '';
  if (isEnumType(type)) return enumRestValue(type.name, text) ?? refuseUnknown(field.name);
  if (projectId === undefined) return exactNumber(parseReference('Dashboard', text, field.name));
  return exactNumber(parseIdWithin({ kind: 'Dashboard', scope: projectId }, text, field.name).id);
}

function refuseUnknown(name: string): never {
  throw new UserInputError(`Expected \`${name}\` to be a value that the upstream knows, but got UNKNOWN.`);
}

function extraEntries(extra: unknown, taken: ReadonlySet<string>): [string, unknown][] {
  if (extra === null || extra === undefined) return [];
  if (!isObject(extra)) throw new UserInputError(`Expected \`extra\` to be a JSON object, but got ${quoted(extra)}.`);
  const twice = Object.keys(extra).find((name) => taken.has(name));
  if (twice !== undefined) {
    throw new UserInputError(`The body field ${quoted(twice)} is set twice: by \`extra\` and by its own input field.`);
  }
  return Object.entries(extra);
}
