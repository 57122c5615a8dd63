/** Requests to a gateway: as `fetch` sends them, and as bytes for the load. */
import { createHash } from 'node:crypto';
import { isObject } from '../../src/rest/values.ts';
import type { Json } from '../../test/support/replies.ts';
import { factsOf } from '../scenarios/facts.ts';
import type { Question, ScenarioName } from '../scenarios/names.ts';
import { type Variant, variablesOf } from '../scenarios/variants.ts';
import { key } from '../upstream/server.ts';

/** One request to a GraphQL endpoint. */
export interface WireRequest {
  readonly method: 'GET' | 'POST';
  /** The query string, which follows the path of the endpoint. */
  readonly search: string;
  readonly body: string;
}

/** Headers of every request; Apollo Server asks GETs for the last one, against forged requests. */
const headers = {
  authorization: `Bearer ${key}`,
  accept: 'application/json',
  'apollo-require-preflight': 'true',
};

/** The request that asks a scenario's question. */
export function requestOf(scenario: ScenarioName, { query }: Question, variant: Variant): WireRequest {
  const variables = variablesOf(query, variant);
  if (scenario !== 'persisted') return post({ operationName: scenario, variables, query });
  const members = { operationName: scenario, variables: JSON.stringify(variables), extensions: hashOf(query) };
  return { method: 'GET', search: `?${new URLSearchParams(members)}`, body: '' };
}

/** The request after which a gateway answers a document's hash. */
export function registrationOf(scenario: ScenarioName, { query }: Question, variant: Variant): WireRequest {
  const extensions: unknown = JSON.parse(hashOf(query));
  return post({ operationName: scenario, variables: variablesOf(query, variant), query, extensions });
}

/** Sends a request and answers `data`. Throws if there is none, or an error beside it. */
export async function fetchData(url: string, { method, search, body }: WireRequest): Promise<unknown> {
  const response = await fetch(`${url}${search}`, {
    method,
    headers: method === 'POST' ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(method === 'POST' && { body }),
  });
  const text = await response.text();
  const answer = toJson(text);
  if (isObject(answer) && isObject(answer['data']) && answer['errors'] === undefined) return answer['data'];
  throw new Error(`expected data but got ${response.status} ${text.slice(0, 600)} for ${method} ${search}${body}`);
}

/** The facts that a gateway answers to a question. */
export async function fetchFacts(
  url: string,
  scenario: ScenarioName,
  question: Question,
  variant: Variant,
): Promise<Json> {
  const data = await fetchData(url, requestOf(scenario, question, variant));
  return factsOf(question.complete?.(data) ?? data);
}

/** A request as it goes over the wire. */
export function bytesOf(url: string, { method, search, body }: WireRequest): Buffer {
  const { host, pathname } = new URL(url);
  const lines = Object.entries({
    host,
    ...headers,
    ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** The JSON value of a text; undefined if the text is not JSON. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function post(params: object): WireRequest {
  return { method: 'POST', search: '', body: JSON.stringify(params) };
}

function hashOf(query: string): string {
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  return JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
}
