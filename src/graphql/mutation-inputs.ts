import { type GraphQLInputField, type GraphQLResolveInfo, getNullableType, isInputObjectType } from 'graphql';
import { type Noun, owners, ownerTypeOf } from '../rest/nouns.ts';
import type { Key } from '../rest/paths.ts';
import { parseIdWithOwner, parseOwnerId } from './ids.ts';

/** The mutation that an input belongs to. */
export type MutationInfo = Pick<GraphQLResolveInfo, 'parentType' | 'fieldName'>;

/** The fields of a mutation's input by their names. */
export function inputFieldsOf({ parentType, fieldName }: MutationInfo): Readonly<Record<string, GraphQLInputField>> {
  const type = parentType.getFields()[fieldName]?.args.find(({ name }) => name === 'input')?.type;
  const named = type === undefined ? undefined : getNullableType(type);
  return isInputObjectType(named) ? named.getFields() : {};
}

/** The input field that names the project or organization that a mutation is about: for a project its own `id`. */
export function ownerArgumentOf(noun: Noun): string {
  const type = ownerTypeOf(noun);
  return type === undefined ? 'id' : owners[type].argument;
}

/** A member of an input that is a text. */
export function textIn(input: object, name: string): string | undefined {
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : undefined;
}

/** The object that an input changes or makes; a new object has an empty id. */
export interface WriteTarget {
  readonly noun: Noun;
  readonly isNew: boolean;
  readonly input: object;
}

/** The key of what an input is about, in the project or organization that `owner` names. Throws a UserInputError. */
export function targetKey({ noun, isNew, input }: WriteTarget, owner: string | undefined): Key {
  const type = ownerTypeOf(noun);
  if (type === undefined) return { noun, scope: '', id: isNew ? '' : parseOwnerId('Project', owner ?? '', 'id') };
  const argument = owners[type].argument;
  if (isNew) return { noun, scope: parseOwnerId(type, owner ?? '', argument), id: '' };
  return parseIdWithOwner(noun, textIn(input, 'id') ?? '', owner, argument);
}
