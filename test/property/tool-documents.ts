import {
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  parseType,
  print,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Random } from './random.ts';

/** A document that is a tool, and arguments that its author had in mind. */
export interface ToolDocument {
  readonly name: string;
  readonly text: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Names the operation of a document, and makes variables of some of its arguments, with a default or without one. */
export function toolDocumentOf(random: Random, schema: GraphQLSchema, name: string, query: string): ToolDocument {
  const types = new TypeInfo(schema);
  const definitions: VariableDefinitionNode[] = [];
  const values: Record<string, unknown> = {};
  const lifted = visit(
    parse(query),
    visitWithTypeInfo(types, {
      Argument: (node) => {
        const type = types.getArgument()?.type;
        const isLeft = types.getDirective() !== null || type === undefined || hasVariables(node.value);
        if (isLeft || random.once(3)) return undefined;
        const variable = `v${definitions.length}`;
        values[variable] = valueFromASTUntyped(node.value);
        const hasDefault = random.once(4) && node.value.kind !== Kind.NULL;
        definitions.push({
          kind: Kind.VARIABLE_DEFINITION,
          variable: variableNode(variable),
          type: parseType(String(type)),
          ...(hasDefault && isConstant(node.value) && { defaultValue: node.value }),
        });
        return { ...node, value: variableNode(variable) };
      },
    }),
  );
  const named = visit(lifted, {
    OperationDefinition: (node): OperationDefinitionNode => ({
      ...node,
      name: { kind: Kind.NAME, value: name },
      variableDefinitions: [...(node.variableDefinitions ?? []), ...definitions],
    }),
  });
  return { name, text: print(named), values };
}

function variableNode(name: string) {
  return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } as const;
}

function hasVariables(value: ValueNode): boolean {
  return print(value).includes('$');
}

function isConstant(value: ValueNode): value is NonNullable<VariableDefinitionNode['defaultValue']> {
  return !hasVariables(value);
}
