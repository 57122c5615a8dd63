import { type GraphQLInputField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { isObject } from '../rest/values.ts';
import { factsOf, isRowType, restNameOf, snakeCase } from './facts.ts';
import { quoted, UserInputError } from './input-error.ts';
import { inputFieldsOf, type MutationInfo } from './mutation-inputs.ts';

/**
 * The members of a mutation's `extra`. What an input field sets is checked there and nowhere else, so a name that has one
 * is refused here, as is a column that this mutation does not set; each as REST spells it and as GraphQL does.
 */
export function extraEntries(extra: unknown, info: MutationInfo): [string, unknown][] {
  if (extra === null || extra === undefined) return [];
  if (!isObject(extra)) throw new UserInputError(`Expected \`extra\` to be a JSON object, but got ${quoted(extra)}.`);
  for (const name of Object.keys(extra)) refuseKnown(name, info);
  return Object.entries(extra);
}

function refuseKnown(name: string, info: MutationInfo): void {
  const own = fieldFor(name, info);
  if (own !== undefined) {
    throw new UserInputError(`Expected ${quoted(name)} in the input field \`${own.name}\`, but got it in \`extra\`.`);
  }
  const noun = nounOf(info);
  if (noun === undefined || !isColumn(name, noun)) return;
  const others = Object.keys(info.parentType.getFields())
    .map((fieldName) => ({ ...info, fieldName }))
    .filter((other) => nounOf(other) === noun && fieldFor(name, other) !== undefined);
  const names = others.map(({ fieldName }) => `\`${fieldName}\``).join(', ');
  const reason = names === '' ? 'the upstream alone sets it' : `it is set by ${names}`;
  throw new UserInputError(
    `Expected \`extra\` to hold what \`${info.fieldName}\` sets, but got ${quoted(name)}: ${reason}.`,
  );
}

/** The input field that a name stands for; one with a REST name such as `tile.id` stands for all of `tile`. */
function fieldFor(name: string, info: MutationInfo): GraphQLInputField | undefined {
  return Object.values(inputFieldsOf(info)).find((field) => {
    const [restName = ''] = restNameOf(field).split('.');
    return field.name !== 'extra' && (isSame(name, restName) || isSame(name, field.name));
  });
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
  return Object.values(noun.getFields()).some((field) => {
    const { column } = factsOf(noun, field);
    if (isSame(name, field.name)) return column !== undefined || field.name === 'upstreamId';
    return column !== undefined && isSame(name, column);
  });
}

function isSame(one: string, other: string): boolean {
  return snakeCase(one) === snakeCase(other);
}
