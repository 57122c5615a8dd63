import type { CursorCodec } from '../context.ts';
import { scarcestOf } from '../http/rate-limit-headers.ts';
import type { HttpRequestContext } from '../http/request-context.ts';
import type { BudgetStatus } from '../operation/cost.ts';
import { type ErrorReporting, toPublicErrors } from '../operation/errors.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import type { OperationResult } from '../operation/result.ts';
import { stringifyData } from '../operation/serialize.ts';
import { isList, isObject, type JsonObject } from '../rest/values.ts';
import { type Edition, isOlder } from './editions.ts';
import { withTextIds } from './input-schema.ts';
import { faultsIn } from './json-schema.ts';
import { emptied } from './output-schema.ts';
import { sentencesOf } from './sentences.ts';
import { mostCharacters, type Tool } from './tool.ts';
import { fittingSize, type OperationLimits, refusalsOf } from './tool-cost.ts';

/** The possible results of the use of a tool, for metrics. */
export const callResults = [
  'ok',
  // The arguments do not fit the schema, each other, or the lists. Nothing was executed.
  'invalid_arguments',
  // Nothing was called, because the gateway refused the operation or its caller may not run it.
  'refused',
  // At least one field failed.
  'error',
  // The answer is larger than agents are given.
  'too_large',
] as const;

/** The result of one use of a tool. */
export type CallResult = (typeof callResults)[number];

/** Collaborators and limits of the use of tools. */
export interface CallOptions extends OperationLimits, ErrorReporting {
  readonly run: RunOperation;
  readonly cursors: CursorCodec;
}

/** A result as JSON, without the members that every result has, and the outcome of the call. */
export interface ToolAnswer {
  readonly members: readonly string[];
  readonly meta: JsonObject;
  readonly result: CallResult;
}

/** Runs a tool as `/graphql` runs its document, and answers the agent with the outcome. Never rejects. */
export async function callTool(
  tool: Tool,
  given: unknown,
  {
    edition,
    context,
    options,
  }: { readonly edition: Edition; readonly context: HttpRequestContext; readonly options: CallOptions },
): Promise<ToolAnswer> {
  const values = withTextIds(given ?? {}, tool.inputSchema);
  const faults = faultsIn(values, tool.inputSchema, '');
  if (faults.length > 0 || !isObject(values)) return failed(faults.join('\n'), noCalls, 'invalid_arguments');
  const tenant = context.caller?.tenant;
  // No schema can express these causes. The agent will ask again, so answering the other fields would be wasted work.
  const refusals = refusalsOf(tool.operation, values, { ...options, tenant });
  if (refusals.length > 0) {
    return failed(sentencesOf(toPublicErrors(refusals, options), undefined), noCalls, 'invalid_arguments');
  }
  context.tool = tool.name;
  const result = await options.run(
    {
      query: undefined,
      variables: values,
      operationName: tool.name,
      extensions: { cost: true },
      ids: { documentId: tool.documentId },
    },
    context,
  );
  const restCalls = restCallsOf(result);
  const { errors = [], data } = result;
  if (errors.length === 0) return answered(tool, result, edition, restCalls);
  const isTooDear = errors.some(({ extensions }) => extensions['code'] === 'COST_LIMIT_EXCEEDED');
  const size = isTooDear ? fittingSize(tool.operation, tool.sizing, values, { ...options, tenant }) : undefined;
  const suggestion =
    size === undefined || tool.sizing.length === 0 ? undefined : `Ask for ${namesOf(tool.sizing)} of at most ${size}.`;
  const sentences = sentencesOf(errors, suggestion);
  if (!isObject(data)) return failed(sentences, restCalls, restCalls.actual === 0 ? 'refused' : 'error');
  return partly(tool, sentences, result, restCalls);
}

/** REST calls of one use of a tool, as agents are told. */
interface RestCalls {
  readonly actual: number;
  readonly cached: number;
  readonly budget?: readonly Pick<BudgetStatus, 'surface' | 'remaining' | 'resetsIn'>[];
}

const noCalls: RestCalls = { actual: 0, cached: 0 };

function restCallsOf({ extensions }: OperationResult): RestCalls {
  const cost = extensions?.['cost'];
  if (!isObject(cost)) return noCalls;
  const { actual, cached, budget } = cost;
  return {
    actual: Number(actual ?? 0),
    cached: Number(cached ?? 0),
    ...(isList(budget) && {
      budget: scarcestOf(budget.filter(isStatus)).map(({ surface, remaining, resetsIn }) => ({
        surface,
        remaining,
        resetsIn,
      })),
    }),
  };
}

function isStatus(value: unknown): value is BudgetStatus {
  return isObject(value) && typeof value['remaining'] === 'number';
}

function answered(tool: Tool, result: OperationResult, edition: Edition, restCalls: RestCalls): ToolAnswer {
  const text = stringifyData(result);
  if (text.length <= mostCharacters) {
    const isLeftOut = isOlder(edition) && text === 'null';
    return {
      members: [content([text]), ...(isLeftOut ? [] : [`"structuredContent":${text}`])],
      ...told(restCalls, 'ok'),
    };
  }
  if (!tool.isMutation) return failed(tooLarge(text, tool), restCalls, 'too_large');
  return cut(tool, text, result.data, restCalls);
}

/** Data beside errors: the fields that failed are null. */
function partly(tool: Tool, sentences: string, result: OperationResult, restCalls: RestCalls): ToolAnswer {
  const text = stringifyData(result);
  const isEmpty = Object.values(result.data ?? {}).every((value) => value === null);
  const outcome = isEmpty && restCalls.actual === 0 ? 'refused' : 'error';
  if (isEmpty) return failed(sentences, restCalls, outcome);
  if (text.length > mostCharacters) {
    if (!tool.isMutation) return failed(`${sentences}\n${tooLarge(text, tool)}`, restCalls, outcome);
    const why = `${sentences}\nThe rest was done. ${cutNote(text)}`;
    return { members: [content([why, text.slice(0, mostCharacters)]), '"isError":true'], ...told(restCalls, outcome) };
  }
  const why = `${sentences}\nThe rest of the answer is there:`;
  return {
    members: [content([why, text]), `"structuredContent":${text}`, '"isError":true'],
    ...told(restCalls, outcome),
  };
}

function tooLarge(text: string, { sizing }: Tool): string {
  const less = sizing.length === 0 ? 'it cannot be made smaller by arguments' : `ask for less with ${namesOf(sizing)}`;
  return `The answer has ${text.length} characters, but at most ${mostCharacters} are given: ${less}.`;
}

/**
 * The shortened answer of a change that was made. Such an answer is never refused, because an agent would then make the
 * change again.
 */
function cut(tool: Tool, text: string, data: unknown, restCalls: RestCalls): ToolAnswer {
  const why = `It was done. ${cutNote(text)}`;
  const structured = JSON.stringify(emptied(data, tool.outputSchema));
  return {
    members: [content([why, text.slice(0, mostCharacters)]), `"structuredContent":${structured}`],
    ...told(restCalls, 'ok'),
  };
}

function cutNote(text: string): string {
  return `The answer has ${text.length} characters, of which these are the first ${mostCharacters}:`;
}

function failed(sentences: string, restCalls: RestCalls, result: CallResult): ToolAnswer {
  return { members: [content([sentences]), '"isError":true'], ...told(restCalls, result) };
}

function told(restCalls: RestCalls, result: CallResult): Pick<ToolAnswer, 'meta' | 'result'> {
  return { meta: { restCalls }, result };
}

function content(texts: readonly string[]): string {
  return `"content":${JSON.stringify(texts.map((text) => ({ type: 'text', text })))}`;
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
