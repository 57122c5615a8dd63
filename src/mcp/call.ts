import type { HttpRequestContext } from '../http/request-context.ts';
import { noToolCost } from '../operation/cost.ts';
import { type OperationResult, stringifyData } from '../operation/operation-result.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import type { PublicError } from '../operation/public-errors.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { withTextIds } from './input-schema.ts';
import { faultsIn } from './json-schema.ts';
import type { Protocol } from './message.ts';
import { mostCharacters, type Tool } from './tool.ts';

/** The result of one use of a tool, for metrics. */
export type ToolResult =
  | 'ok'
  // The arguments do not fit the schema, or a field would refuse them. Nothing was executed.
  | 'invalid_arguments'
  // Nothing was called, because the gateway refused the operation or its caller may not run it.
  | 'refused'
  // At least one field failed.
  | 'error'
  // The answer is larger than an agent may get.
  | 'too_large';

interface ToolAnswer {
  /** The members of the JSON-RPC result, each as JSON text: its name, a colon and its value. */
  readonly members: readonly string[];
  readonly meta: JsonObject;
  readonly result: ToolResult;
}

/** Runs a tool as `/graphql` runs its document, and answers the agent with the outcome. Never rejects. */
export async function callTool(
  tool: Tool,
  given: unknown,
  protocol: Protocol,
  context: HttpRequestContext,
  run: RunOperation,
): Promise<ToolAnswer> {
  const values = withTextIds(given ?? {}, tool.inputSchema);
  const faults = faultsIn(values, tool.inputSchema, '');
  if (faults.length > 0 || !isObject(values)) return failed(faults.join('\n'), noToolCost, 'invalid_arguments');
  context.tool = tool.name;
  const result = await run(
    {
      query: undefined,
      variables: values,
      operationName: tool.name,
      extensions: { cost: true },
      ids: { documentId: tool.documentId },
    },
    context,
  );
  const { errors = [], data, extensions: { cost } = {} } = result;
  const restCalls = isObject(cost) ? cost : noToolCost;
  if (errors.length === 0) return answered(tool, result, { sentences: '', protocol, restCalls });
  const isTooExpensive = errors.some(({ extensions }) => extensions['code'] === 'COST_LIMIT_EXCEEDED');
  const size = isTooExpensive ? tool.fittingSize(values, context.caller) : undefined;
  const suggestion =
    size === undefined || tool.sizeArguments.length === 0
      ? undefined
      : `Ask for ${namesOf(tool.sizeArguments)} of at most ${size}.`;
  const sentences = sentencesOf(errors, suggestion);
  // The arguments fit the schema, but have a fault that no schema can express, such as a damaged cursor.
  const isBadInput = data === undefined && errors.every(({ extensions }) => extensions['code'] === 'BAD_USER_INPUT');
  if (isBadInput) return failed(sentences, restCalls, 'invalid_arguments');
  const isEmpty = !isObject(data) || Object.values(data).every((value) => value === null);
  if (isEmpty) return failed(sentences, restCalls, restCalls['actual'] === 0 ? 'refused' : 'error');
  return answered(tool, result, { sentences, protocol, restCalls });
}

/** The answer with the data of a result. `sentences` are about the fields that failed. */
function answered(
  tool: Tool,
  result: OperationResult,
  {
    sentences,
    protocol,
    restCalls,
  }: { readonly sentences: string; readonly protocol: Protocol; readonly restCalls: JsonObject },
): ToolAnswer {
  const text = stringifyData(result);
  const isWhole = sentences === '';
  const isCut = text.length > mostCharacters;
  if (isCut && !tool.isMutation) {
    const told = isWhole ? tooLarge(text, tool) : `${sentences}\n${tooLarge(text, tool)}`;
    return failed(told, restCalls, isWhole ? 'too_large' : 'error');
  }
  // The answer of a change that was made is never refused, because an agent would then make the change again.
  const done = isWhole ? 'It was done.' : `${sentences}\nThe rest was done.`;
  const cutNote = `${done} The answer has ${text.length} characters, of which these are the first ${mostCharacters}:`;
  const partNote = isWhole ? [] : [`${sentences}\nThe rest of the answer is there:`];
  const structured = isCut ? JSON.stringify(emptied(result.data)) : text;
  const isLeftOut = (isCut && !isWhole) || (protocol === 'older' && structured === 'null');
  return {
    members: [
      content(isCut ? [cutNote, text.slice(0, mostCharacters)] : [...partNote, text]),
      ...(isLeftOut ? [] : [`"structuredContent":${structured}`]),
      ...(isWhole ? [] : ['"isError":true']),
    ],
    meta: { restCalls },
    result: isWhole ? 'ok' : 'error',
  };
}

/** The data of a mutation without its objects. All fields of the type Mutation are nullable. */
function emptied(data: unknown): JsonObject {
  const members = Object.entries(isObject(data) ? data : {});
  return Object.fromEntries(members.map(([name, value]) => [name, isObject(value) ? null : value]));
}

function tooLarge(text: string, { sizeArguments }: Tool): string {
  const less =
    sizeArguments.length === 0
      ? 'it cannot be made smaller by arguments'
      : `ask for less with ${namesOf(sizeArguments)}`;
  return `The answer has ${text.length} characters, but at most ${mostCharacters} are given: ${less}.`;
}

function failed(sentences: string, restCalls: JsonObject, result: ToolResult): ToolAnswer {
  return { members: [content([sentences]), '"isError":true'], meta: { restCalls }, result };
}

function content(texts: readonly string[]): string {
  return `"content":${JSON.stringify(texts.map((text) => ({ type: 'text', text })))}`;
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** Advice for agents about errors, by code. Errors with other codes have the advice in their messages. */
const advice: Readonly<Record<string, string>> = {
  UPSTREAM_TIMEOUT: 'Ask again, or for less.',
  UPSTREAM_UNAVAILABLE: 'Try again later.',
  OVERLOADED: 'Try again later.',
  AUTHENTICATION_UNAVAILABLE: 'Try again later.',
  CLIENT_LEFT: 'Try again.',
  INTERNAL_SERVER_ERROR: 'Try again later, and tell the operator of the gateway if it happens again.',
};

const mostErrors = 5;

function sentencesOf(errors: readonly PublicError[], suggestion: string | undefined): string {
  const told = errors.slice(0, mostErrors).map((error) => sentenceOf(error, suggestion));
  const further = errors.length - told.length;
  return [...new Set(told), ...(further > 0 ? [`There are ${further} further errors.`] : [])].join('\n');
}

function sentenceOf({ message, path, extensions, refusal }: PublicError, suggestion: string | undefined): string {
  const { code, retryAfter = upstreamOf(extensions)['retryAfter'] } = extensions;
  const where = path === undefined || path.length === 0 ? '' : `\`${path.join('.')}\`: `;
  const seconds = typeof retryAfter === 'number' ? retryAfter : Number(refusal?.headers['retry-after']);
  const told = `${where}${message}${rejections(extensions)}`;
  if (Number.isFinite(seconds)) return `${told} Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  const next = code === 'COST_LIMIT_EXCEEDED' ? suggestion : advice[String(code)];
  return next === undefined ? told : `${told} ${next}`;
}

/** The reasons why the API rejected fields of an input. */
function rejections(extensions: PublicError['extensions']): string {
  const { errors } = upstreamOf(extensions);
  if (!Array.isArray(errors)) return '';
  const each = errors.flatMap((error: unknown) => {
    if (!isObject(error) || typeof error['message'] !== 'string') return [];
    const { field } = error;
    return [typeof field === 'string' ? `\`${field}\`: ${error['message']}` : error['message']];
  });
  return each.length === 0 ? '' : ` ${each.join(' ')}`;
}

function upstreamOf({ upstream }: PublicError['extensions']): Readonly<Record<string, unknown>> {
  return isObject(upstream) ? upstream : {};
}
