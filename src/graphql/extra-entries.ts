import { type GraphQLField, type GraphQLInputField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { requestColumns } from '../rest/generated/views.ts';
import { isObject } from '../rest/values.ts';
import { isRowType, mappingOf, restNameOf, snakeCase } from './field-mapping.ts';
import { quoted, UserInputError } from './input-error.ts';
import { inputFieldsOf, type MutationInfo } from './mutation-inputs.ts';

/**
 * The members of a mutation's `extra`, which is for what the contract does not document. Refuses the names of the input
 * fields of this mutation and of others of the same noun, as REST and as GraphQL spell them, because only the input
 * fields check their values. Refuses the columns of the noun, too.
 */
export function extraEntries(extra: unknown, info: MutationInfo): [string, unknown][] {
  if (extra === null || extra === undefined) return [];
  if (!isObject(extra)) throw new UserInputError(`Expected \`extra\` to be a JSON object, but got ${quoted(extra)}.`);
  const entries = Object.entries(extra);
  const known = knownNames(info);
  const { files } = inputFieldsOf(info);
  for (const [name] of entries) {
    if (known.has(snakeCase(name))) throw refusalOf(name, info);
    // In the body of a change of source code, all entries beside columns are files.
    if (files !== undefined) throw ownRefusal(name, files);
  }
  return entries;
}

/** The names of input fields and of columns that the contract has for the noun of a mutation, in snake_case. */
function knownNames(info: MutationInfo): ReadonlySet<string> {
  const noun = nounOf(info);
  const inputs = [info, ...mutationsOf(noun, info)].flatMap((one) => Object.values(inputFieldsOf(one)));
  const columns = Object.values(noun?.getFields() ?? {}).flatMap((field) => (noun ? columnNames(noun, field) : []));
  const requests: Readonly<Record<string, readonly string[]>> = requestColumns;
  return new Set([...inputs.flatMap(namesOfInput), ...columns, ...(requests[noun?.name ?? ''] ?? [])].map(snakeCase));
}

function refusalOf(name: string, info: MutationInfo): UserInputError {
  const own = fieldFor(name, info);
  if (own !== undefined) return ownRefusal(name, own);
  const setters = mutationsOf(nounOf(info), info).filter((other) => fieldFor(name, other) !== undefined);
  const names = setters.map(({ fieldName }) => `\`${fieldName}\``).join(', ');
  const reason = names === '' ? 'the upstream alone sets it' : `it is set by ${names}`;
  return new UserInputError(
    `Expected \`extra\` to hold what \`${info.fieldName}\` sets, but got ${quoted(name)}: ${reason}.`,
  );
}

function ownRefusal(name: string, field: GraphQLInputField): UserInputError {
  return new UserInputError(`Expected ${quoted(name)} in the input field \`${field.name}\`, but got it in \`extra\`.`);
}

/** The input field that a name stands for. */
function fieldFor(name: string, info: MutationInfo): GraphQLInputField | undefined {
  const rest = snakeCase(name);
  return Object.values(inputFieldsOf(info)).find((field) => namesOfInput(field).some((one) => snakeCase(one) === rest));
}

/** The names that stand for an input field. A field with a REST name such as `tile.id` stands for all of `tile`. */
function namesOfInput(field: GraphQLInputField): string[] {
  const [restName = ''] = restNameOf(field).split('.');
  return field.name === 'extra' ? [] : [restName, field.name];
}

function mutationsOf(noun: GraphQLObjectType | undefined, { parentType }: MutationInfo): MutationInfo[] {
  const all = Object.keys(parentType.getFields()).map((fieldName) => ({ parentType, fieldName }));
  return all.filter((info) => nounOf(info) === noun);
}

/** The type of the objects that a mutation writes, as its payload has it. */
function nounOf({ parentType, fieldName }: MutationInfo): GraphQLObjectType | undefined {
  const field = parentType.getFields()[fieldName];
  const payload = field && getNamedType(field.type);
  if (!isObjectType(payload)) return undefined;
  const types = Object.values(payload.getFields()).map(({ type }) => getNamedType(type));
  return types.filter(isObjectType).find((type) => isRowType(type.name));
}

/** The names that stand for a column; none for a field that is no column. */
function columnNames(noun: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string[] {
  const { column } = mappingOf(noun, field);
  if (column === undefined) return field.name === 'upstreamId' ? [field.name] : [];
  return [column, field.name];
}
