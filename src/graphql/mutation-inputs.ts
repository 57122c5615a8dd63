import { type GraphQLInputField, type GraphQLResolveInfo, getNullableType, isInputObjectType } from 'graphql';

/** Which mutation's input it is. */
export type MutationInfo = Pick<GraphQLResolveInfo, 'parentType' | 'fieldName'>;

/** The fields of a mutation's input by their names. */
export function inputFieldsOf({ parentType, fieldName }: MutationInfo): Readonly<Record<string, GraphQLInputField>> {
  const type = parentType.getFields()[fieldName]?.args.find(({ name }) => name === 'input')?.type;
  const named = type === undefined ? undefined : getNullableType(type);
  return isInputObjectType(named) ? named.getFields() : {};
}
