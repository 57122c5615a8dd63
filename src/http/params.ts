import type { GraphQLError } from 'graphql';
import { type GraphQLParams, idMembers } from '../operation/params.ts';
import { requestError } from '../operation/request-error.ts';
import { parseJson, refuseDeep } from '../rest/json.ts';
import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';

/** The parameters in a JSON body that nests at most `maxDepth` deep; integers keep every digit. */
export function paramsOfBody(text: string, maxDepth: number): GraphQLParams {
  const value = parsed(text, 'the body', maxDepth);
  if (!isJsonObject(value)) {
    throw badRequest(`Expected the body to be one JSON object with the member \`query\`, but got ${kindOf(value)}.`);
  }
  return toParams(value);
}

/** The parameters in the query of a URL, `variables` and `extensions` JSON-encoded. */
export function paramsOfUrl(url: string, maxDepth: number): GraphQLParams {
  const start = url.indexOf('?');
  const search = new URLSearchParams(start === -1 ? '' : url.slice(start));
  const all: Record<string, unknown> = Object.fromEntries(search);
  for (const name of ['variables', 'extensions']) {
    const text = search.get(name);
    if (text !== null) all[name] = text === '' ? undefined : parsed(text, `\`${name}\``, maxDepth);
  }
  return toParams(all);
}

function toParams(all: JsonObject): GraphQLParams {
  return {
    query: member(all, 'query', isString, 'a string'),
    variables: member(all, 'variables', isJsonObject, 'an object'),
    operationName: member(all, 'operationName', isString, 'a string'),
    extensions: knownExtensions(member(all, 'extensions', isJsonObject, 'an object')),
    ids: picked(all, idMembers),
  };
}

function knownExtensions(all: JsonObject | undefined): JsonObject | undefined {
  if (all === undefined) return undefined;
  const { persistedQuery } = all;
  return {
    ...picked(all, ['cost', 'explain', 'persistedQuery']),
    ...(isObject(persistedQuery) && { persistedQuery: picked(persistedQuery, ['version', 'sha256Hash']) }),
  };
}

/** The members with these names. Objects and lists lose their contents, because each wanted member is a scalar. */
function picked(all: JsonObject, names: readonly string[]): JsonObject {
  let found: Record<string, unknown> | undefined;
  for (const name of names) {
    if (all[name] === undefined) continue;
    found ??= {};
    found[name] = withoutContents(all[name]);
  }
  return found ?? noMembers;
}

/** The value for requests that have none of these members, as most requests do. */
const noMembers: JsonObject = Object.freeze({});

function withoutContents(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

function member<T>(
  all: JsonObject,
  name: string,
  accepts: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  const value = all[name];
  // An empty `operationName` counts as left out (GraphQL over HTTP §5.2). Some hand-written clients send other members
  // empty, too.
  if (value === null || value === undefined || value === '') return undefined;
  if (accepts(value)) return value;
  throw badRequest(`Expected \`${name}\` to be ${expected}, but got ${kindOf(value)}.`);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** True for a JSON object. A number beyond 2^53 is also kept as an object, which does not count. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && exactDigits(value) === undefined;
}

function parsed(text: string, what: string, maxDepth: number): unknown {
  try {
    refuseDeep(text, maxDepth);
  } catch {
    throw requestError('deepJson', `Expected ${what} to nest at most ${maxDepth} deep, but it nests deeper.`);
  }
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`Expected ${what} to be JSON, but it cannot be parsed.`);
  }
}

function badRequest(message: string): GraphQLError {
  return requestError('badParameter', message);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  return exactDigits(value) === undefined ? `a ${typeof value}` : 'a number';
}
