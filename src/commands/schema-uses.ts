import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  type ObjectFieldNode,
  type ObjectValueNode,
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
 * type can hold, because a client may send any value. Fields and arguments that the schema does not have are left out.
 */
export function usesIn(schema: GraphQLSchema, document: DocumentNode): Uses {
  const uses = new Set<string>();
  const info = new TypeInfo(schema);
  const add = (...more: readonly string[]): void => more.forEach((use) => uses.add(use));
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: (node) => add(...fieldUses(info, node)),
      Argument: () => add(...argumentUses(info)),
      ObjectValue: (node) => add(...namesOf(info.getInputType()), ...omittedFields(info.getInputType(), node)),
      ObjectField: ({ name }) => add(...namesOf(info.getParentInputType(), name.value)),
      EnumValue: ({ value }) => add(...namesOf(info.getInputType(), value)),
      VariableDefinition: () => {
        const type = info.getInputType();
        if (type) addValueUses(getNamedType(type), add);
      },
      NamedType: ({ name }) => add(name.value),
      Directive: ({ name }) => add(`@${name.value}`),
    }),
  );
  return uses;
}

function fieldUses(info: TypeInfo, node: FieldNode): readonly string[] {
  const parent = info.getParentType();
  const field = info.getFieldDef();
  if (!parent || !field) return [];
  const names = [parent.name, `${parent.name}.${field.name}`, getNamedType(field.type).name];
  return [...names, ...omitted(field.args, node.arguments)];
}

function omittedFields(type: GraphQLInputType | null | undefined, node: ObjectValueNode): readonly string[] {
  const named = type && getNamedType(type);
  return isInputObjectType(named) ? omitted(Object.values(named.getFields()), node.fields) : [];
}

/** The arguments or input fields that could have been given but were omitted. */
function omitted(
  possible: readonly (GraphQLArgument | GraphQLInputField)[] = [],
  given: readonly (ArgumentNode | ObjectFieldNode)[] = [],
): readonly string[] {
  const names = new Set(given.map(({ name }) => name.value));
  return possible.filter(({ name }) => !names.has(name)).map((one) => omission(String(one)));
}

function argumentUses(info: TypeInfo): readonly string[] {
  const argument = info.getArgument();
  return argument ? [String(argument), getNamedType(argument.type).name] : [];
}

/**
 * The name of an input type, and the coordinate of its input field or enum value `member`. A member of a scalar is
 * JSON, and has no coordinate.
 */
function namesOf(type: GraphQLInputType | null | undefined, member?: string): readonly string[] {
  if (!type) return [];
  const named = getNamedType(type);
  const hasMembers = isEnumType(named) || isInputObjectType(named);
  return member === undefined || !hasMembers ? [named.name] : [named.name, `${named.name}.${member}`];
}

/** Adds everything that values of an input type can hold. */
function addValueUses(type: GraphQLNamedInputType, add: (use: string) => unknown, known = new Set<string>()): void {
  if (known.has(type.name)) return;
  known.add(type.name);
  add(type.name);
  if (isEnumType(type)) for (const value of type.getValues()) add(String(value));
  if (!isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    add(String(field));
    add(omission(String(field)));
    addValueUses(getNamedType(field.type), add, known);
  }
}
