import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoDeprecatedCustomRule,
  type OperationDefinitionNode,
  validate,
} from 'graphql';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { Tool, type ToolDefinition } from '../mcp/tool.ts';
import { extremesOf } from '../plan/worst-case.ts';
import type { Tenant } from '../rest/tenants.ts';
import type { PlainConfig } from '../settings/config.ts';
import { checkDocument, lineOf } from './documents.ts';
import { type Cost, limitsFor } from './output.ts';
import { refusalsFor } from './tenant-verdicts.ts';

/** The verdict on one operation, or on a document that cannot be read. */
export interface Verdict {
  readonly name: string;
  /** Its errors, one line each; empty if it is valid. */
  readonly errors: readonly string[];
  /** Uses of deprecated fields and arguments, one line each. */
  readonly deprecated: readonly string[];
  /** Undefined if the operation is not valid. */
  readonly cost?: Cost;
  readonly overBudget: boolean;
  /** The reasons why the tenant may not run it, one line each; undefined if no tenant was named. */
  readonly refused?: readonly string[];
  /** Its description as a tool for agents; null if it is no tool, undefined if tools were not requested. */
  readonly mcp?: DescribedTool | null;
}

interface Further {
  /** The tenant whose right to run them is checked. */
  readonly tenant?: Tenant | undefined;
  readonly asTools?: boolean;
}

/** Judges each operation of a document separately. `name` is used for operations without a name. */
export function judge(
  schema: GraphQLSchema,
  name: string,
  text: string,
  config: PlainConfig,
  { tenant, asTools = false }: Further = {},
): readonly Verdict[] {
  const { document, faults } = checkDocument(schema, text);
  if (document === undefined) return [invalid(name, faults.map(lineOf))];
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 0) return faults.length === 0 ? [] : [invalid(name, faults.map(lineOf))];
  const warnings = faults.length === 0 ? validate(schema, document, [NoDeprecatedCustomRule]) : [];
  return operations.map((operation) => {
    const called = operation.name?.value ?? name;
    const errors = concerning(faults, operation, operations);
    if (errors.length > 0) return invalid(called, errors);
    const verdict = priced(schema, document, operation, called, concerning(warnings, operation, operations), config);
    return {
      ...verdict,
      ...(tenant !== undefined && { refused: refusalsFor(tenant, schema, document, operation) }),
      ...(asTools && { mcp: describeTool(schema, document, operation, config) ?? null }),
    };
  });
}

function priced(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  name: string,
  deprecated: readonly string[],
  config: PlainConfig,
): Verdict {
  const { maxPageSize } = config;
  const fragments = fragmentsOf(document);
  const extremes = extremesOf({ schema, fragments, operation, maxPageSize, variesDefaults: false });
  if (extremes === undefined) return invalid(name, ['no variables fit it']);
  const { lower, upper, rows, waves, objects } = extremes.worst;
  const overBudget = limitsFor(extremes.worst, config).some(({ isExceeded }) => isExceeded);
  return { name, errors: [], deprecated, cost: { lower, upper, rows, waves, objects }, overBudget };
}

function invalid(name: string, errors: readonly string[]): Verdict {
  return { name, errors, deprecated: [], overBudget: false };
}

/**
 * The errors within an operation, and the errors outside all operations. An error in a fragment concerns every
 * operation.
 */
function concerning(
  errors: readonly GraphQLError[],
  operation: OperationDefinitionNode,
  all: readonly OperationDefinitionNode[],
): readonly string[] {
  const found = errors.filter((error) => isWithin(error, operation) || !all.some((one) => isWithin(error, one)));
  return found.map(lineOf);
}

function isWithin({ positions }: GraphQLError, { loc }: OperationDefinitionNode): boolean {
  if (loc === undefined) return false;
  return positions?.some((position) => loc.start <= position && position < loc.end) ?? false;
}

/** The tool of an operation as agents see it, with one line for each hint to improve it. */
interface DescribedTool {
  readonly tool: ToolDefinition;
  readonly hints: readonly string[];
}

/** The requirement that an operation which is no tool does not meet. */
export const neededOfTools = 'expected a query or a mutation with a name';

/** Describes the tool of a valid operation; undefined if the operation is no tool. */
export function describeTool(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  config: PlainConfig,
): DescribedTool | undefined {
  const { name } = operation;
  if (name === undefined || operation.operation === 'subscription') return undefined;
  const tool = new Tool(name.value, '', { fragments: fragmentsOf(document), operation }, { ...config, schema });
  return { tool: tool.definitionFor(undefined), hints: tool.hints };
}
