import {
  type ArgumentNode,
  type ASTNode,
  type DirectiveNode,
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
 * The parts of a schema that a document uses. Types have their names, members their schema coordinates, and other parts
 * the texts of the functions below. https://spec.graphql.org/September2025/#sec-Schema-Coordinates
 */
export type Uses = ReadonlySet<string>;

/** The use of a fragment on one type within a selection on another. */
export function overlap(type: string, within: string): string {
  return `${type} in ${within}`;
}

/** The use of a directive, such as `@skip`, at a location, such as `FIELD`. */
export function placement(directive: string, location: string): string {
  return `${directive} on ${location}`;
}

/** The use of a directive, such as `@skip`, more than once at one place. */
export function repetition(directive: string): string {
  return `${directive} again`;
}

/** The omission of an argument or an input field that could have been given. */
export function omission(coordinate: string): string {
  return `${coordinate} left out`;
}

/**
 * The parts of a schema that a document uses in all of its operations and fragments. A variable uses everything that its
 * type can hold, because a client may send any value. Names that the schema does not have are left out.
 */
export function usesOf(schema: GraphQLSchema, document: DocumentNode): Uses {
  const uses = new Set<string>();
  const info = new TypeInfo(schema);
  const conditions = conditionsOf(document);
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
      InlineFragment: ({ typeCondition }) => add(...conditionUses(info, typeCondition?.name.value)),
      FragmentSpread: ({ name }) => add(...conditionUses(info, conditions.get(name.value))),
      FragmentDefinition: ({ typeCondition }) => add(typeCondition.name.value),
      Directive: (node, _key, siblings, _path, ancestors) =>
        add(...directiveUses(node, siblings, ancestors), ...omitted(info.getDirective()?.args, node.arguments)),
    }),
  );
  return uses;
}

/** The type of each fragment by the fragment's name. */
function conditionsOf({ definitions }: DocumentNode): ReadonlyMap<string, string> {
  const fragments = definitions.filter((one) => one.kind === 'FragmentDefinition');
  return new Map(fragments.map(({ name, typeCondition }) => [name.value, typeCondition.name.value]));
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
 * The names of a type and of a member of it: an input field or an enum value. Members within a scalar are JSON and have
 * none.
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

function conditionUses(info: TypeInfo, condition: string | undefined): readonly string[] {
  const parent = info.getParentType();
  if (condition === undefined) return [];
  return parent ? [condition, overlap(condition, parent.name)] : [condition];
}

function directiveUses(
  { name: { value: name }, arguments: given = [] }: DirectiveNode,
  siblings: Parent,
  ancestors: readonly Parent[],
): readonly string[] {
  const directive = `@${name}`;
  const equal = isList(siblings) ? siblings.filter((one) => one.kind === 'Directive' && one.name.value === name) : [];
  const owner = ancestors.at(-1);
  return [
    directive,
    ...given.map((argument) => `${directive}(${argument.name.value}:)`),
    ...(owner === undefined || isList(owner) ? [] : [placement(directive, locationOf(owner))]),
    ...(equal.length > 1 ? [repetition(directive)] : []),
  ];
}

/** The parent of a node: another node, or a list of nodes. */
type Parent = ASTNode | readonly ASTNode[] | undefined;

function isList(parent: Parent): parent is readonly ASTNode[] {
  return Array.isArray(parent);
}

/** The location of directives on a node: `QUERY`, or `FRAGMENT_SPREAD` of a node of the kind `FragmentSpread`. */
function locationOf(owner: ASTNode): string {
  if (owner.kind === 'OperationDefinition') return owner.operation.toUpperCase();
  return owner.kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
