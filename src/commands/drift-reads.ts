import type { RestClient } from '../rest/client.ts';
import { UpstreamError } from '../rest/errors.ts';
import { operations } from '../rest/generated/views.ts';
import type { RestOperation } from '../rest/operation-ids.ts';
import { idText, isObject } from '../rest/values.ts';

/** The answer to a GET operation. */
export interface Read {
  readonly operation: RestOperation;
  /** The path with the query. */
  readonly target: string;
  readonly body: unknown;
}

/** A GET operation that could not be read, with the reason. */
export interface Unread {
  readonly operation: RestOperation;
  readonly reason: string;
  /** The error of the call; undefined if no call was made. */
  readonly error?: UpstreamError;
}

/** All GET operations. In the document, each list comes before the operations of its rows. */
const gets: readonly RestOperation[] = Object.values(operations).filter(({ method }) => method === 'GET');

/** The number of GET operations. */
export const getOperations = gets.length;

/** The queries that operations need: the hosted service lists the values of a property only if the query names one. */
const queries: Readonly<Record<string, string>> = { listEventValues: '?key=%24browser' };

/** The collection without a list of its own. An organization is known from its projects. */
const organizations = '/api/organizations/';

/** Reads each GET operation once, with the first project, its organization, and the first row of each list. */
export async function readAll(client: () => RestClient): Promise<readonly (Read | Unread)[]> {
  const ids = new Map<string, string>();
  const results: (Read | Unread)[] = [];
  for (const operation of gets) {
    const { id, path } = operation;
    const target = targetOf(path, ids);
    // One after the other, because later paths contain ids from earlier answers.
    const result = await read(client(), operation, target && target + (queries[id] ?? ''));
    results.push(result);
    if ('body' in result) learn(path, result.body, ids);
  }
  return results;
}

async function read(client: RestClient, operation: RestOperation, target: string | undefined): Promise<Read | Unread> {
  if (target === undefined) return { operation, reason: 'there is no row to read' };
  try {
    return { operation, target, body: await client.getJson(operation, target) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const status = error.upstream?.status;
    return { operation, reason: status === undefined ? error.code : `${error.code} (${status})`, error };
  }
}

/** A path with ids instead of its parameters; undefined if an id is unknown. `ids` has the ids by collection. */
function targetOf(path: string, ids: ReadonlyMap<string, string>): string | undefined {
  const names = path.split(/(?<=\/)(?=\{)|(?<=\})/);
  let collection = '';
  let target = '';
  for (const part of names) {
    const id = part.startsWith('{') ? ids.get(collection) : part;
    if (id === undefined) return undefined;
    target += part.startsWith('{') ? encodeURIComponent(id) : id;
    collection += part;
  }
  return target;
}

/** Remembers the id of the first row of a list, and the organization of the first project. */
function learn(path: string, body: unknown, ids: Map<string, string>): void {
  const results: unknown = isObject(body) ? body['results'] : undefined;
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  if (!isObject(first)) return;
  const id = idText(first['id']);
  const organization = idText(first['organization']);
  if (id !== undefined) ids.set(path, id);
  if (organization !== undefined && !ids.has(organizations)) ids.set(organizations, organization);
}
