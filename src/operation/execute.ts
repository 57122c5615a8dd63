import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  validateExecutionArgs,
  visit,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { latePackage } from '../late-packages.ts';
import { measureOf } from '../look-ahead/document-measure.ts';
import { isIntrospection } from '../look-ahead/selection-tree.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { liftedPrefix, liftLiterals } from './lift-literals.ts';
import { noVariables } from './params.ts';

/** Runs one prepared operation with its coerced variables. */
export type Execute = (context: GatewayContext, variables: VariableValues) => MaybePromise<ExecutionResult>;

/** The schema, and the schema that compiled operations run on (see `createCompilerSchema`). */
export interface Schemas {
  readonly schema: GraphQLSchema;
  readonly compilerSchema: GraphQLSchema;
  readonly incremental?: IncrementalSchemas | undefined;
}

/** The schemas for answers in parts. */
interface IncrementalSchemas {
  /** The schema with `@defer`. Introspection reads it, and documents with `@defer` are validated against it. */
  readonly schema: GraphQLSchema;
  /** Executes operations that are answered in parts. */
  readonly partsSchema: GraphQLSchema;
}

/** Settings of the execution. */
export interface ExecuteOptions {
  readonly schemas: Schemas;
  /** True if clients may read the schema, and get suggestions from it if they misspell a name. */
  readonly introspection: boolean;
  /** The time that one process may spend on compiling operations that are repeated. */
  readonly compileTime?: CompileTime;
}

/**
 * The maximum number of selections of an operation that is compiled. graphql-jit expands a fragment at each spread, and
 * takes about 50 µs and 3 KB for each selection. graphql's own executor visits a fragment once. Listed operations are
 * compiled at once, with a higher limit: their owner wrote them, and no client waits for the compilation.
 */
const mostSelections = { 'when repeated': 500, 'at once': 10_000 };

/**
 * Makes the function that runs an operation of a valid document. Until the operation has answered data once, graphql's
 * own executor runs it. A later run compiles it first, and calls `onCompile`, because the code takes several times the
 * memory of the document. With `at once`, compiled code runs the operation from the start. Operations that cannot be
 * compiled stay with graphql's executor.
 */
export function createExecute(
  options: ExecuteOptions,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  compile: 'when repeated' | 'at once' = 'when repeated',
  onCompile: () => void = () => undefined,
): Execute {
  const interpret = interpreted(options, document, operation);
  if (operation.operation === 'subscription') return interpret;
  const code = (): Execute | undefined =>
    hasReservedName(document) || measureOf(document).selections > mostSelections[compile]
      ? undefined
      : compiled(options, document, operation, interpret);
  if (compile === 'at once') return code() ?? interpret;
  const { compileTime = new CompileTime() } = options;
  let run = interpret;
  let state: 'new' | 'answered' | 'compiled' = 'new';
  const compileOnce = (): void => {
    state = 'compiled';
    const found = code();
    if (found === undefined) return;
    run = found;
    onCompile();
  };
  const note = ({ data }: ExecutionResult): void => {
    if (state === 'new' && data !== undefined && data !== null) state = 'answered';
  };
  return (context, variables) => {
    if (state === 'answered') compileTime.spend(compileOnce);
    const result = run(context, variables);
    if (state === 'new' && context.keyFault === undefined) Promise.resolve(result).then(note, () => undefined);
    return result;
  };
}

function interpreted(
  { schemas: { schema, incremental }, introspection }: ExecuteOptions,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Execute {
  const readsSchema = incremental !== undefined && measureOf(document).introspectionDepth > 0;
  const readable = readsSchema ? incremental.schema : schema;
  const args = executionArgs({ schema: readable, hideSuggestions: !introspection }, document, operation);
  return (contextValue, variableValues) => executeRootSelectionSet({ ...args, contextValue, variableValues });
}

/** The arguments of graphql's executors, to which each execution adds its context and its coerced variables. */
export function executionArgs(
  options: Pick<ExecutionArgs, 'schema' | 'hideSuggestions' | 'enableEarlyExecution'>,
  { definitions, ...document }: DocumentNode,
  operation: OperationDefinitionNode,
): ValidatedExecutionArgs {
  const fragments = definitions.filter(({ kind }) => kind !== Kind.OPERATION_DEFINITION);
  // The variables are coerced already. graphql does not coerce them again if the operation does not define them.
  const withoutVariables = [{ ...operation, variableDefinitions: [] }, ...fragments];
  const args = validateExecutionArgs({ ...options, document: { ...document, definitions: withoutVariables } });
  if ('schema' in args) return { ...args, operation };
  throw new Error('expected an operation of a valid document', { cause: args[0] });
}

function compiled(
  { schemas: { schema, compilerSchema } }: ExecuteOptions,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  interpret: Execute,
): Execute | undefined {
  const lifted = liftLiterals(schema, document);
  const { compileQuery, isCompiledQuery } = latePackage('graphql-jit');
  const query = compileQuery(compilerSchema, lifted.document, operation.name?.value, {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: true,
    resolverInfoEnricher: () => ({ plainVariables: true }),
  });
  if (!isCompiledQuery(query)) return undefined;
  const { variableDefinitions = [] } = operation;
  if (variableDefinitions.length === 0) {
    const values = lifted.valuesOf(noVariables);
    return (context) => query.query(undefined, context, values);
  }
  // If a variable is null where null is not allowed, graphql-jit words the errors differently, ignores the default of
  // the argument, and never ends a mutation whose second field has such an argument.
  const misplaced = variableDefinitions
    .filter(({ type, variable }) => type.kind !== Kind.NON_NULL_TYPE && lifted.neverNull.has(variable.name.value))
    .map(({ variable }) => variable.name.value);
  return (context, variables) =>
    misplaced.some((name) => (variables.coerced[name] ?? null) === null)
      ? interpret(context, variables)
      : query.query(undefined, context, lifted.valuesOf(variables));
}

/**
 * True for names that compiled code must not use. In source code, a property `__proto__` would set a prototype.
 * Introspection would show the schema of compiled code instead of the schema for clients. The prefix is reserved for
 * lifted literals.
 */
function isReserved(name: string): boolean {
  return name === '__proto__' || isIntrospection(name) || name.startsWith(liftedPrefix);
}

function hasReservedName(document: DocumentNode): boolean {
  let found = false;
  visit(document, { Name: ({ value }) => void (found ||= isReserved(value)) });
  return found;
}

/** The milliseconds of each second that compiling may take. A compilation that takes longer is still completed. */
const msPerSecond = 100;

/**
 * Bounds the time for which compilations block the event loop. A client that sends thousands of documents twice each
 * must not block all others.
 */
export class CompileTime {
  #secondBegan = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  /** Runs `compile` at once. Returns false without running it if the time of this second is used up. */
  spend(compile: () => void): boolean {
    const startedAt = performance.now();
    if (startedAt - this.#secondBegan >= 1000) {
      this.#secondBegan = startedAt;
      this.#spentMs = 0;
    }
    if (this.#spentMs >= msPerSecond) return false;
    compile();
    this.#spentMs += performance.now() - startedAt;
    return true;
  }
}
