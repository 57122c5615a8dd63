import {
  coerceInputValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isObjectType,
} from 'graphql';
import { requestColumns } from '../rest/generated/views.ts';
import { idText, isObject } from '../rest/values.ts';
import { isEnumRestValue } from './enums.ts';
import { isRowType, mappingOf, restNameOf, snakeCase } from './field-mapping.ts';
import { quoted, UserInputError } from './input-error.ts';
import { inputFieldsOf, type MutationInfo } from './mutation-inputs.ts';

/**
 * The members of a mutation's `extra`. What an input field sets is checked there and nowhere else, so a name that has one
 * is refused here, as REST spells it and as GraphQL does; so is a column that no request sets. Request columns of the
 * contract for which this mutation has no field are checked as the mutations that have one check them.
 */
export function extraEntries(extra: unknown, info: MutationInfo): [string, unknown][] {
  if (extra === null || extra === undefined) return [];
  if (!isObject(extra)) throw new UserInputError(`Expected \`extra\` to be a JSON object, but got ${quoted(extra)}.`);
  const entries = Object.entries(extra);
  const known = knownNames(info);
  const takesFiles = inputFieldsOf(info)['files'] !== undefined;
  for (const [name, value] of entries) if (takesFiles || known.has(snakeCase(name))) checkEntry(name, value, info);
  return entries;
}

/** The names of input fields and of columns, in snake_case. */
function knownNames(info: MutationInfo): ReadonlySet<string> {
  const noun = nounOf(info);
  const inputs = Object.values(inputFieldsOf(info)).flatMap(namesOfInput);
  const columns =
    noun === undefined ? [] : Object.values(noun.getFields()).flatMap((field) => columnNames(noun, field));
  return new Set([...inputs, ...columns].map(snakeCase));
}

function checkEntry(name: string, value: unknown, info: MutationInfo): void {
  const noun = nounOf(info);
  const isKnown = noun !== undefined && isColumn(name, noun);
  // What the body of a change of source code has beside columns are files.
  const own = fieldFor(name, info) ?? (isKnown ? undefined : inputFieldsOf(info)['files']);
  if (own !== undefined) {
    throw new UserInputError(`Expected ${quoted(name)} in the input field \`${own.name}\`, but got it in \`extra\`.`);
  }
  if (isKnown) checkColumn(name, value, noun, info);
}

/** A column that this mutation has no field for, but others of the same noun may have. */
function checkColumn(name: string, value: unknown, noun: GraphQLObjectType, info: MutationInfo): void {
  const others = mutationsOf(noun, info).filter((other) => fieldFor(name, other) !== undefined);
  const field = others[0] && fieldFor(name, others[0]);
  if (field === undefined || !isRequestColumn(restNameOf(field), noun)) {
    const setters = others.map(({ fieldName }) => `\`${fieldName}\``).join(', ');
    const reason = setters === '' ? 'the upstream alone sets it' : `it is set by ${setters}`;
    throw new UserInputError(
      `Expected \`extra\` to hold what \`${info.fieldName}\` sets, but got ${quoted(name)}: ${reason}.`,
    );
  }
  const restName = restNameOf(field);
  if (name !== restName)
    throw new UserInputError(`Expected REST names in \`extra\` (\`${restName}\`), but got ${quoted(name)}.`);
  if (value !== null && !isRestValue(value, field)) {
    throw new UserInputError(`Expected ${quoted(name)} in \`extra\` to be as REST has it, but got ${quoted(value)}.`);
  }
}

/** Whether a value is what REST takes for an input field. */
function isRestValue(value: unknown, { type }: GraphQLInputField): boolean {
  const named = getNamedType(type);
  if (isEnumType(named)) return isEnumRestValue(named.name, value);
  if (named.name === 'ID') return typeof value !== 'string' && idText(value) !== undefined;
  return coerceInputValue(value, type) !== undefined;
}

function isRequestColumn(name: string, noun: GraphQLObjectType): boolean {
  const columns: Readonly<Record<string, readonly string[]>> = requestColumns;
  return columns[noun.name]?.includes(name) === true;
}

/** The input field that a name stands for. */
function fieldFor(name: string, info: MutationInfo): GraphQLInputField | undefined {
  const rest = snakeCase(name);
  return Object.values(inputFieldsOf(info)).find((field) => namesOfInput(field).some((one) => snakeCase(one) === rest));
}

/** The names that stand for an input field; one with a REST name such as `tile.id` stands for all of `tile`. */
function namesOfInput(field: GraphQLInputField): string[] {
  const [restName = ''] = restNameOf(field).split('.');
  return field.name === 'extra' ? [] : [restName, field.name];
}

function mutationsOf(noun: GraphQLObjectType, { parentType }: MutationInfo): MutationInfo[] {
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

function isColumn(name: string, noun: GraphQLObjectType): boolean {
  const rest = snakeCase(name);
  return Object.values(noun.getFields()).some((field) =>
    columnNames(noun, field).some((one) => snakeCase(one) === rest),
  );
}

/** The names that stand for a column; none for a field that is no column. */
function columnNames(noun: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string[] {
  const { column } = mappingOf(noun, field);
  if (column === undefined) return field.name === 'upstreamId' ? [field.name] : [];
  return [column, field.name];
}
