import {
  type ArgumentNode,
  coerceInputLiteral,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
  type VariableValues,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { holdsVariable } from '../look-ahead/selection-tree.ts';

interface Literal {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly value: ValueNode;
}

/** A document in which every field argument is a variable. */
interface LiftedDocument {
  /** All of its variables have the type `JSON`, so graphql-jit passes on their values, which are coerced already. */
  readonly document: DocumentNode;
  /** Variables in places that do not allow null. The declared type may allow null if the place has a default. */
  readonly neverNull: ReadonlySet<string>;
  /** Returns the coerced values of the client's variables and of the lifted literals. */
  readonly valuesOf: (variables: VariableValues) => Readonly<Record<string, unknown>>;
}

/** The prefix of the names of lifted literals. A document that uses this prefix itself must not be lifted. */
export const liftedPrefix = '__literal';

/**
 * Replaces the literals in field arguments by variables, which graphql itself coerces. graphql-jit would write literals
 * into source code, where long integers lose digits and variables inside literals are lost. A literal text that
 * begins with a marker of graphql-jit would run as code.
 */
export function liftLiterals(schema: GraphQLSchema, document: DocumentNode): LiftedDocument {
  const literals: Literal[] = [];
  const neverNull = new Set<string>();
  const types = new TypeInfo(schema);
  const lift = (node: ArgumentNode): ArgumentNode | undefined => {
    const type = types.getArgument()?.type;
    // Arguments of directives stay literals: `@skip` and `@include` only take booleans.
    if (node.value.kind === Kind.VARIABLE || type === undefined || types.getDirective() !== null) return undefined;
    const name = `${liftedPrefix}${literals.length}`;
    literals.push({ name, type, value: node.value });
    return { ...node, value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } };
  };
  const note = ({ name }: VariableNode): void => {
    if (isNonNullType(types.getInputType())) neverNull.add(name.value);
  };
  const visitor = { VariableDefinition: () => false, Variable: note, Argument: { leave: lift } };
  const lifted = visit(document, visitWithTypeInfo(types, visitor));
  const names = literals.map(({ name }) => name);
  const definitions = lifted.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const own = definition.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [];
    return { ...definition, variableDefinitions: [...own, ...names].map(passedOn) };
  });
  const constants = valuesOfAll(literals.filter(({ value }) => !holdsVariable(value)));
  const others = literals.filter(({ value }) => holdsVariable(value));
  return {
    document: { ...lifted, definitions },
    neverNull,
    valuesOf:
      literals.length === 0
        ? ({ coerced }) => coerced
        : (variables) => withCoerced({ ...constants, ...valuesOfAll(others, variables) }, variables.coerced),
  };
}

function passedOn(name: string): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'JSON' } },
  };
}

/**
 * Copies coerced values one by one. graphql's objects have no prototype, and spreading such an object costs
 * microseconds in V8's slow runtime path.
 */
function withCoerced(values: Record<string, unknown>, coerced: VariableValues['coerced']): Record<string, unknown> {
  for (const name in coerced) values[name] = coerced[name];
  return values;
}

/** The values of literals. A literal that lacks a needed variable is left out: its argument counts as not given. */
function valuesOfAll(literals: readonly Literal[], variables?: VariableValues): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, type, value } of literals) {
    const coerced = coerceInputLiteral(value, type, variables);
    if (coerced !== undefined) values[name] = coerced;
  }
  return values;
}
