import {
  type DocumentNode,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { memoize } from '../memoize.ts';

/**
 * The deprecated fields and arguments that an operation uses, each once, as schema coordinates; undefined if there are none.
 * https://spec.graphql.org/September2025/#sec-Schema-Coordinates
 */
export function deprecatedUsesOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
): readonly string[] | undefined {
  if (!hasDeprecations(schema)) return undefined;
  const uses = new Set<string>();
  const info = new TypeInfo(schema);
  const add = (
    deprecated: { readonly deprecationReason?: string | null | undefined } | null | undefined,
    coordinate: string,
  ): void => {
    if (typeof deprecated?.deprecationReason === 'string') uses.add(coordinate);
  };
  const fieldCoordinate = (): string => `${info.getParentType()?.name}.${info.getFieldDef()?.name}`;
  visit(
    separateOperations(document)[name?.value ?? ''] ?? document,
    visitWithTypeInfo(info, {
      Field: () => add(info.getFieldDef(), fieldCoordinate()),
      Argument: ({ name: argument }) => add(info.getArgument(), `${fieldCoordinate()}(${argument.value}:)`),
    }),
  );
  return uses.size === 0 ? undefined : [...uses];
}

/** True if a schema deprecates anything. Most schemas do not, and then no document needs to be searched. */
const hasDeprecations = memoize((schema: GraphQLSchema): boolean => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = types.flatMap((type) => Object.values(type.getFields()));
  const members = fields.flatMap((field) => [field, ...field.args]);
  return members.some(({ deprecationReason }) => typeof deprecationReason === 'string');
});
