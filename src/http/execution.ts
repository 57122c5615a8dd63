import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { GatewayContext } from '../context.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Runs one prepared operation. */
export type Execute = (
  context: GatewayContext,
  variables: Variables | undefined,
) => Promise<ExecutionResult> | ExecutionResult;

/** The schema, and what compiled operations run on (see `createCompilerSchema`). */
export interface Schemas {
  readonly schema: GraphQLSchema;
  readonly compilerSchema: GraphQLSchema;
}

/**
 * What runs an operation of a valid document: graphql's own executor the first time, code compiled for it from the
 * second time on, or at once. What cannot be compiled stays with graphql's executor.
 */
export function createExecution(
  schemas: Schemas,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  compile: 'when repeated' | 'at once' = 'when repeated',
): Execute {
  const interpret = interpreted(schemas, document, operation);
  if (compile === 'at once') return compiled(schemas, document, operation) ?? interpret;
  let runs = 0;
  let run = interpret;
  return (context, variables) => {
    runs += 1;
    if (runs === 2) run = compiled(schemas, document, operation) ?? interpret;
    return run(context, variables);
  };
}

function interpreted({ schema }: Schemas, document: DocumentNode, operation: OperationDefinitionNode): Execute {
  const operationName = operation.name?.value;
  return (contextValue, variableValues) => execute({ schema, document, contextValue, variableValues, operationName });
}

/** Compiled code for an operation; undefined where graphql-jit cannot compile it. */
function compiled(
  { schema, compilerSchema }: Schemas,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Execute | undefined {
  if (isBeyondCompiler(document)) return undefined;
  const query = compileQuery(compilerSchema, withRawVariables(document, operation), operation.name?.value, {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: true,
    resolverInfoEnricher: () => ({ plainVariables: true }),
  });
  if (!isCompiledQuery(query)) return undefined;
  const { variableDefinitions = [] } = operation;
  if (variableDefinitions.length === 0) return (context) => query.query(undefined, context, {});
  return (context, given = {}) => {
    // graphql's own coercion, so that its errors read the same whichever way an operation runs.
    const values = getVariableValues(schema, variableDefinitions, given);
    if (values.variableValues === undefined) return { errors: values.errors };
    return query.query(undefined, context, values.variableValues.coerced);
  };
}

/**
 * Whether compiled code would do something else than graphql's executor. A variable that is a part of an argument, as in
 * `input: { name: $name }`, would become null where it is not given, and get lost in literals of type JSON. Other
 * literals become source text: long integers would lose digits there, members called `__proto__` would be no members,
 * and behind a marker of graphql-jit's own the text of the client would run as code.
 */
function isBeyondCompiler(document: DocumentNode): boolean {
  let depth = 0;
  let found = false;
  const literal = { enter: () => void (depth += 1), leave: () => void (depth -= 1) };
  const text = ({ value }: { readonly value: string }): void => void (found ||= /__MAGIC_|^__proto__$/.test(value));
  visit(document, {
    ObjectValue: literal,
    ListValue: literal,
    Variable: () => void (found ||= depth > 0),
    IntValue: ({ value }) => void (found ||= !Number.isSafeInteger(Number(value))),
    StringValue: text,
    EnumValue: text,
    Name: text,
  });
  return found;
}

/** The document with variables of a type that graphql-jit passes on as they are: they are coerced already. */
function withRawVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const variableDefinitions = operation.variableDefinitions?.map(
    ({ kind, variable }): VariableDefinitionNode => ({ kind, variable, type: passedOn }),
  );
  const raw: OperationDefinitionNode = {
    ...operation,
    ...(variableDefinitions !== undefined && { variableDefinitions }),
  };
  return { ...document, definitions: document.definitions.map((one) => (one === operation ? raw : one)) };
}

const passedOn: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'JSON' } };
