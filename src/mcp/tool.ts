import type { OperationDefinitionNode } from 'graphql';
import { rootOf } from '../look-ahead/operation-trees.ts';
import type { OperationScope, SelectedField } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';
import type { PreparedOperation } from '../operation/document.ts';
import type { Variables } from '../plan/worst-case.ts';
import { type Caller, callerAllowing, rightsOf } from '../rest/caller.ts';
import { type Rights, reachesAll } from '../rest/reach.ts';
import { inputSchemaOf, oneLine } from './input-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { outputSchemaOf } from './output-schema.ts';
import { costOf, fittingSize, type ToolCost, type ToolOperation } from './tool-cost.ts';
import { setsSize, variableUses } from './variable-uses.ts';

/** The most characters of an answer: agents pay for each of them. */
export const mostCharacters = 100_000;

export type ToolOptions = Omit<ToolOperation, 'fragments' | 'operation'>;

/** The tools by their names, in the order of the names. */
export type Tools = ReadonlyMap<string, Tool>;

/** A tool as agents see it (Model Context Protocol, Tool). */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: Annotations;
  readonly _meta: { readonly restCalls: Pick<ToolCost, 'lower' | 'upper' | 'waves'> };
}

interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: false;
}

/** A tool as all callers with the same rights see it. */
interface ToolView {
  readonly cost: ToolCost;
  readonly definition: ToolDefinition;
}

/**
 * Stands for the rights of all callers that reach all data of their key. Callers with limited reach read lists in
 * another way, at another cost.
 */
const unlimited: Rights = { reach: undefined, mutations: new Map() };

/** A listed operation that agents may use. */
export class Tool {
  readonly name: string;
  readonly documentId: string;
  readonly isMutation: boolean;
  readonly inputSchema: JsonSchema;
  /** The arguments that determine the size of its answer. */
  readonly sizeArguments: readonly string[];
  readonly #operation: ToolOperation;
  readonly #fields: readonly SelectedField[];
  /** Makes the view of the tool, once for all callers with the same rights. */
  readonly #viewWith: (rights: Rights) => ToolView;

  constructor(
    name: string,
    documentId: string,
    { fragments, operation }: Pick<PreparedOperation, 'fragments' | 'operation'>,
    options: ToolOptions,
  ) {
    const own = { ...options, fragments, operation };
    const uses = variableUses(own);
    this.name = name;
    this.documentId = documentId;
    this.isMutation = operation.operation === 'mutation';
    this.inputSchema = inputSchemaOf(own, uses);
    this.sizeArguments = [...uses].flatMap(([variable, all]) => (all.some(setsSize) ? [variable] : []));
    this.#operation = own;
    this.#fields = rootOf(own, undefined)?.fields ?? [];
    const text = descriptionOf(operation, this.#fields);
    const { inputSchema } = this;
    const outputSchema = outputSchemaOf(own);
    const annotations = annotationsOf(operation, this.#fields);
    this.#viewWith = memoize((rights) => {
      const cost = costOf(own, rights === unlimited ? undefined : rights);
      const { lower, upper, waves, line } = cost;
      const description = text === '' ? line : `${text}\n${line}`;
      const _meta = { restCalls: { lower, upper, waves } };
      return { cost, definition: { name, description, inputSchema, outputSchema, annotations, _meta } };
    });
  }

  /** The tool as a caller sees it. Callers with the same rights get the same object. */
  definitionFor(caller: Caller | undefined): ToolDefinition {
    return this.#viewFor(caller).definition;
  }

  costLineFor(caller: Caller | undefined): string {
    return this.#viewFor(caller).cost.line;
  }

  /**
   * The largest size of pages and lists with which the tool stays within its limits; undefined if every size exceeds
   * them.
   */
  fittingSize(values: Variables, caller: Caller | undefined): number | undefined {
    return fittingSize(this.#operation, this.sizeArguments, values, rightsOf(caller));
  }

  #viewFor(caller: Caller | undefined): ToolView {
    const rights = caller && rightsOf(callerAllowing(caller, this.name));
    return this.#viewWith(rights === undefined || reachesAll(rights) ? unlimited : rights);
  }

  isFor(caller: Caller | undefined): boolean {
    if (caller === undefined) return true;
    const running = callerAllowing(caller, this.name);
    const rights = rightsOf(running);
    if (rights === undefined || !this.isMutation) return running !== undefined;
    return this.#fields.every(({ field }) => rights.mutations.has(field.name));
  }

  /** The weaknesses of the tool, as hints for the author of its document. */
  get hints(): readonly string[] {
    const { upper, objects } = this.#viewFor(undefined).cost;
    const largest = objects * usualCharacters;
    return [
      ...(this.#operation.operation.description === undefined ? ['it has no description of its own'] : []),
      ...(upper > mostUsualCalls
        ? [`it may make ${upper} REST calls: smaller pages or fewer nested lists would need fewer`]
        : []),
      ...(largest > mostCharacters
        ? [`its answer may exceed the ${mostCharacters} characters that agents are given`]
        : []),
    ];
  }
}

/** The most REST calls that agents should spend at once. A tool that needs more gets a hint. */
const mostUsualCalls = 20;

/** The number of characters of a usual object of an answer, as JSON. */
const usualCharacters = 100;

/** The author's description of the tool; otherwise, the schema's descriptions of its fields. */
function descriptionOf({ description }: OperationDefinitionNode, fields: readonly SelectedField[]): string {
  return oneLine(description?.value ?? [...new Set(fields.map(({ field }) => field.description))].join(' '));
}

function annotationsOf({ operation }: OperationDefinitionNode, fields: readonly SelectedField[]): Annotations {
  const isQuery = operation === 'query';
  return {
    readOnlyHint: isQuery,
    // An operation that only adds is not destructive.
    destructiveHint: !isQuery && !fields.every(({ field }) => field.name.startsWith('create')),
    // PUT and DELETE are idempotent (RFC 9110 §9.2.2). So is PATCH in this API, which sets members to values.
    idempotentHint: isQuery || fields.every(({ origin }) => 'endpoint' in origin && origin.endpoint.method !== 'POST'),
    openWorldHint: false,
  };
}

/** A tool as agents see it, with one line for each hint to improve it. */
export interface DescribedTool {
  readonly tool: ToolDefinition;
  readonly hints: readonly string[];
}

export const neededOfTools = 'expected a query or a mutation with a name';

/** Describes the tool of a valid operation to the author of its document; undefined if the operation is no tool. */
export function describeTool(scope: OperationScope, limits: Omit<ToolOptions, 'schema'>): DescribedTool | undefined {
  const { schema, operation } = scope;
  const { name } = operation;
  if (name === undefined || operation.operation === 'subscription') return undefined;
  const tool = new Tool(name.value, '', scope, { ...limits, schema });
  return { tool: tool.definitionFor(undefined), hints: tool.hints };
}
