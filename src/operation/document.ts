import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  type VariableValues,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { measureOf } from '../look-ahead/document-measure.ts';
import { fragmentsOf, type OperationScope } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';
import { RecentMap } from '../recent-map.ts';
import { createExecuteInParts, type ExecuteInParts, withoutDefer } from './defer.ts';
import type { DocumentLimits } from './document-limits.ts';
import { CompileTime, createExecute, type Execute, type ExecuteOptions } from './execute.ts';
import { coercedVariables, type GraphQLParams } from './params.ts';
import { parseDocument, validationErrors } from './parse-document.ts';
import { RefusedDocument, RequestError } from './request-error.ts';

/** An operation that is ready to run: parsed, valid, within the limits. */
export interface PreparedOperation extends OperationScope {
  readonly document: DocumentNode;
  /** Coerces the variables of a request. Throws a RefusedDocument if they do not fit. */
  readonly coerce: (given: GraphQLParams['variables']) => VariableValues;
  /** Runs the operation, by compiled code once it has been repeated. */
  readonly execute: Execute;
  /** The operation with `@defer`; undefined if it is always answered as a whole. */
  readonly deferred?: DeferredOperation | undefined;
  /**
   * True if its document is listed in a manifest. The limits of documents and of rows do not apply to such an
   * operation. The deadline, and the limits of arguments, calls and answers, do apply.
   */
  readonly listed: boolean;
  readonly deprecated: readonly string[] | undefined;
  /** A number that no other prepared operation has. */
  readonly serial: number;
}

/** An operation that may be answered in parts, with `@defer`. */
export interface DeferredOperation extends OperationScope {
  readonly document: DocumentNode;
  readonly execute: ExecuteInParts;
}

type ListedOptions = Pick<ExecuteOptions, 'schemas' | 'introspection'>;

/** Settings of the preparation. `preparedBytes` bounds the memory of the operations that are remembered. */
export interface PrepareOptions extends ListedOptions {
  readonly preparedBytes: number;
  readonly limits: DocumentLimits;
}

/** Prepares operations from their text. Throws a RefusedDocument if the operation cannot be run. */
export type Prepare = (query: string, operationName: string | undefined) => PreparedOperation;

/** Prepares operations and remembers them. Refused documents are not remembered: they could evict the others. */
export function createPrepare(options: PrepareOptions): Prepare {
  const prepared = new RecentMap<string, PreparedOperation>({ size: options.preparedBytes });
  const compileTime = new CompileTime();
  return (query, operationName) => {
    const key = operationName === undefined ? query : `${operationName}\n${query}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const operation = prepareOperation({ ...options, compileTime }, query, operationName, () => {
      // The map reads the size of an entry only when the entry is added, so the entry is added again.
      prepared.delete(key);
      prepared.set(key, operation, { size: sizeOf(key, query, operation) + codeSizeOf(operation) });
    });
    prepared.set(key, operation, { size: sizeOf(key, query, operation) });
    return operation;
  };
}

/** Upper bounds of the memory of a document and of its code, in bytes, measured with 7 to 2,000 tokens. */
const bytesPer = { unit: 2, token: 400, codeOfToken: 1600, codeOfSelection: 3000 };

function sizeOf(key: string, text: string, { document, deferred }: PreparedOperation): number {
  // If the key differs from the text, the entry holds both.
  const units = key === text ? text.length : key.length + text.length;
  const documents = deferred === undefined ? 1 : 2;
  return bytesPer.unit * units + bytesPer.token * documents * (document.tokenCount ?? text.length) + 1000;
}

/** The memory of the compiled code, in bytes. The code contains a fragment once for each spread. */
function codeSizeOf({ document }: PreparedOperation): number {
  return bytesPer.codeOfToken * (document.tokenCount ?? 0) + bytesPer.codeOfSelection * measureOf(document).selections;
}

let lastSerial = 0;

function prepareOperation(
  { limits, ...options }: PrepareOptions & ExecuteOptions,
  query: string,
  operationName: string | undefined,
  onCompile: () => void,
): PreparedOperation {
  const parsed = parseDocument(query, limits);
  const document = refuseInvalid(query, parsed, options);
  const operation = operationOf(document, operationName);
  return preparedOf(options, parsed, document, operation, 'when repeated', onCompile);
}

/**
 * Prepares an operation of a valid document. `parsed` is the same document with `@defer`. Listed operations are
 * compiled at once.
 */
function preparedOf(
  options: ExecuteOptions,
  parsed: DocumentNode,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  compile: 'when repeated' | 'at once',
  onCompile?: () => void,
): PreparedOperation {
  const { schema } = options.schemas;
  lastSerial += 1;
  return {
    ...{ schema, document, operation, listed: compile === 'at once' },
    fragments: fragmentsOf(document),
    coerce: (given) => coercedVariables(options, operation, given),
    execute: createExecute(options, document, operation, compile, onCompile),
    deferred: parsed === document ? undefined : deferredOperationOf(options, parsed, operation.name?.value),
    deprecated: deprecatedUsesOf(schema, document, operation),
    serial: lastSerial,
  };
}

function deferredOperationOf(
  options: ExecuteOptions,
  document: DocumentNode,
  name: string | undefined,
): DeferredOperation | undefined {
  const { schema } = options.schemas;
  const operation = operationOf(document, name);
  const execute = createExecuteInParts(options, document, operation);
  return execute && { schema, document, operation, fragments: fragmentsOf(document), execute };
}

/** Prepares and compiles all operations of a listed document. Throws a RefusedDocument if one cannot be run. */
export type PrepareListed = (query: string) => readonly PreparedOperation[];

/** Makes the function that prepares listed documents. The limits of documents do not apply to them. */
export function createPrepareListed(options: ListedOptions): PrepareListed {
  return (query) => {
    const parsed = parseDocument(query);
    const document = refuseInvalid(query, parsed, options);
    return document.definitions
      .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
      .map((operation) => preparedOf(options, parsed, document, operation, 'at once'));
  };
}

/** The operation with this name. If no name is given, the only operation. Throws a RefusedDocument if there is none. */
export function operationNamed(
  operations: readonly PreparedOperation[],
  operationName: string | undefined,
): PreparedOperation {
  const isOnly = operationName === undefined && operations.length === 1;
  const found = operations.find(({ operation }) => isOnly || operation.name?.value === operationName);
  if (found === undefined) throw wrongName(operationName);
  return found;
}

/** The document without `@defer`. Throws a RefusedDocument if it is not valid. */
function refuseInvalid(text: string, document: DocumentNode, { schemas, introspection }: ListedOptions): DocumentNode {
  const whole = withoutDefer(text, document);
  const { schema } = whole === document ? schemas : (schemas.incremental ?? schemas);
  const errors = validationErrors(document, { schema, introspection, maxErrors: mostErrors });
  if (errors.length > 0) throw new RefusedDocument(errors);
  return whole;
}

/** The most validation errors that are reported for a document. Further ones add nothing new. */
const mostErrors = 20;

function operationOf(document: DocumentNode, operationName: string | undefined): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  if (operation === null || operation === undefined) throw wrongName(operationName);
  return operation;
}

function wrongName(operationName: string | undefined): RefusedDocument {
  const message =
    operationName === undefined
      ? 'Expected `operationName`, because the document has not exactly one operation.'
      : `Expected \`operationName\` to be an operation of the document, but got ${JSON.stringify(operationName.slice(0, 100))}.`;
  return new RefusedDocument([new RequestError('wrongOperationName', message)]);
}

/**
 * The deprecated fields and arguments that an operation uses, each once, as schema coordinates; undefined if there are
 * none. https://spec.graphql.org/September2025/#sec-Schema-Coordinates
 */
export function deprecatedUsesOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
): readonly string[] | undefined {
  if (!hasDeprecations(schema)) return undefined;
  const uses = new Set<string>();
  const info = new TypeInfo(schema);
  const add = (used: GraphQLField<unknown, unknown> | GraphQLArgument | null | undefined): void => {
    if (typeof used?.deprecationReason === 'string') uses.add(String(used));
  };
  visit(
    separateOperations(document)[name?.value ?? ''] ?? document,
    visitWithTypeInfo(info, { Field: () => add(info.getFieldDef()), Argument: () => add(info.getArgument()) }),
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
