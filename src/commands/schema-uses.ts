import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  Kind,
  type ObjectFieldNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/**
 * The elements of a schema that a document uses: the names of types, the coordinates of members, and omissions.
 * https://spec.graphql.org/September2025/#sec-Schema-Coordinates
 */
export type Uses = ReadonlySet<string>;

/** The text that stands for leaving out an argument or an input field. */
export function omission(coordinate: string): string {
  return `${coordinate} left out`;
}

/**
 * The elements of a schema that the operations and fragments of a document use. A variable uses everything that its
 * type can hold, because a client may send any value. Fields, arguments and directives that the schema does not have
 * are left out.
 */
export function usesIn(schema: GraphQLSchema, document: DocumentNode): Uses {
  const uses = new Set<string>();
  const info = new TypeInfo(schema);
  /** Adds elements of the schema, whose texts are their names or coordinates. */
  const add = (...elements: readonly ({ readonly toString: () => string } | null | undefined)[]): void => {
    for (const element of elements) if (element !== null && element !== undefined) uses.add(String(element));
  };
  /** Adds an omission for each possible argument or input field that is not given. */
  const addOmitted = (
    possible: readonly (GraphQLArgument | GraphQLInputField)[] = [],
    given: readonly (ArgumentNode | ObjectFieldNode)[] = [],
  ): void => {
    const names = new Set(given.map(({ name }) => name.value));
    for (const one of possible) if (!names.has(one.name)) add(omission(String(one)));
  };
  /** Adds everything that values of an input type can hold. */
  const addValues = (type: GraphQLNamedInputType): void => {
    if (uses.has(valuesOf(type))) return;
    add(valuesOf(type), type);
    if (isEnumType(type)) add(...type.getValues());
    for (const field of isInputObjectType(type) ? Object.values(type.getFields()) : []) {
      add(field, omission(String(field)));
      addValues(getNamedType(field.type));
    }
  };
  const enter = (node: ASTNode): false | undefined => {
    const field = info.getFieldDef();
    const directive = info.getDirective();
    // TypeInfo takes the arguments of an unknown directive for those of the field that has it.
    if (node.kind === Kind.DIRECTIVE && !directive) return false;
    const input = getNamedType(info.getInputType());
    add(info.getParentType(), field, field && getNamedType(field.type), directive);
    add(info.getArgument(), input, info.getEnumValue());
    if (node.kind === Kind.NAMED_TYPE) add(node.name.value);
    if (node.kind === Kind.FIELD) addOmitted(field?.args, node.arguments);
    if (node.kind === Kind.DIRECTIVE) addOmitted(directive?.args, node.arguments);
    if (node.kind === Kind.OBJECT && isInputObjectType(input))
      addOmitted(Object.values(input.getFields()), node.fields);
    if (node.kind === Kind.VARIABLE_DEFINITION && isInputType(input)) addValues(input);
    const parent = getNamedType(info.getParentInputType());
    if (node.kind === Kind.OBJECT_FIELD && isInputObjectType(parent)) add(parent.getFields()[node.name.value]);
    return undefined;
  };
  visit(document, visitWithTypeInfo(info, { enter }));
  return uses;
}

/** The text that stands for all values of an input type. */
function valuesOf(type: GraphQLNamedInputType): string {
  return `values of ${type.name}`;
}
