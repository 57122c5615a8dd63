import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError } from '../config-error.ts';
import { EventLoopYield } from '../event-loop-yield.ts';
import { callerOf } from '../http/identifying-headers.ts';
import type { Caller } from '../rest/caller.ts';
import type { RestClient } from '../rest/client.ts';
import { type Answers, Comparison, type Difference, type DriftKind } from '../rest/drift/compare.ts';
import { foreignTo } from '../rest/drift/drift-watch.ts';
import { UpstreamError } from '../rest/errors.ts';
import { answers as documented } from '../rest/generated/answers.ts';
import { operations } from '../rest/generated/views.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { OperationEpoch } from '../rest/read-your-writes.ts';
import type { RestOperation } from '../rest/rest-operations.ts';
import { bodyRoomLimitsFor } from '../rest/transport/body-room.ts';
import { createUpstream, type Upstream } from '../rest/upstream.ts';
import { idText, isObject } from '../rest/values.ts';
import { type PlainConfig, readPlainConfig } from '../settings/config.ts';
import { driftSettings, plainSettings } from '../settings/declaration.ts';
import { readRoute } from '../settings/route.ts';
import type { SettingsReader } from '../settings/settings-reader.ts';
import { embedded } from '../settings/urls.ts';
import { readText } from './documents.ts';
import { patchOf } from './drift-patch.ts';
import { type CommandResult, counted, table } from './output.ts';

/** The OpenAPI document that the gateway was made from. */
const document = join(import.meta.dirname, '../../schema/rest.openapi.yaml');

/**
 * `drift [--json]`: reads each GET operation of the upstream once and prints the differences between the answers and
 * the OpenAPI document. Fails if there are any.
 */
export async function drift(
  args: string[],
  settings: SettingsReader,
  announce: (line: string) => void,
): Promise<CommandResult> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } });
  const { config, caller, upstream } = connect(settings);
  announce(
    `Reads each GET operation once: at most ${counted(gets.length, 'REST call')}, and one more for each that fails.`,
  );
  try {
    const findings = findingsOf(await readAll(() => clientFor(upstream, caller, config)), readText(document));
    const text = values.json === true ? JSON.stringify(findings, null, 2) : describe(findings);
    return { text, exitCode: findings.differences.length === 0 ? 0 : 1 };
  } finally {
    upstream.close();
  }
}

/** The settings, the caller and the upstream. Throws a ConfigError with all faults. */
function connect(settings: SettingsReader) {
  const because = 'the command drift reads the upstream';
  const keyFile = settings.need(driftSettings.driftKeyFile, because);
  const url = settings.need(plainSettings.upstreamUrl, because);
  const isEmbedded = url === embedded;
  if (isEmbedded)
    settings.addFault(
      plainSettings.upstreamUrl.name,
      'expected the URL of a REST API, but it is the embedded workspace',
    );
  const caller = keyFile === undefined ? undefined : callerOf({ authorization: `Bearer ${readText(keyFile).trim()}` });
  if (keyFile !== undefined && caller === undefined)
    settings.addFault(
      driftSettings.driftKeyFile.name,
      'expected a file that holds one API key, but it holds something else',
    );
  const route = readRoute(settings, isEmbedded ? undefined : url);
  const config = readPlainConfig(settings);
  const { upstreamUrl, maxAnswerBytes } = config;
  if (caller === undefined || upstreamUrl === undefined) throw new Error('expected a fault of the settings');
  const upstream = createUpstream({
    url: upstreamUrl,
    route,
    connections: 1,
    maxInFlight: 1,
    bodyRoomLimits: bodyRoomLimitsFor(maxAnswerBytes),
    eventLoop: new EventLoopYield(),
    log: () => undefined,
  });
  return { config, caller, upstream };
}

function clientFor(upstream: Upstream, caller: Caller, { operationDeadlineMs }: PlainConfig): RestClient {
  return upstream.clientFor({
    caller,
    deadline: new OperationDeadline(operationDeadlineMs),
    calls: new OperationCalls(1),
    epoch: new OperationEpoch(undefined, 'none'),
  });
}

export interface Read {
  readonly operation: RestOperation;
  /** The path with the query. */
  readonly target: string;
  readonly body: unknown;
}

interface Unread {
  readonly operation: RestOperation;
  readonly reason: string;
}

/** All GET operations. In the document, each list comes before the operations of its rows. */
const gets: readonly RestOperation[] = Object.values(operations).filter(({ method }) => method === 'GET');

/**
 * The queries that operations need, by the id of the operation. The hosted service lists the values of a property only
 * if the query names the property.
 */
const queries: Readonly<Record<string, string>> = { listEventValues: '?key=%24browser' };

/**
 * The path of organizations, the only collection that no operation lists. The id of an organization is taken from a
 * project.
 */
const organizations = '/api/organizations/';

/** Reads each GET operation once, with the first project, its organization, and the first row of each list. */
export async function readAll(client: () => RestClient): Promise<readonly (Read | Unread)[]> {
  const ids = new Map<string, string>();
  const results: (Read | Unread)[] = [];
  for (const operation of gets) {
    const { id, path } = operation;
    const target = targetOf(path, ids);
    // One after the other, because later paths contain ids from earlier answers.
    const result = await readOne(client(), operation, target && target + (queries[id] ?? ''));
    results.push(result);
    if ('body' in result) rememberIds(path, result.body, ids);
  }
  return results;
}

async function readOne(
  client: RestClient,
  operation: RestOperation,
  target: string | undefined,
): Promise<Read | Unread> {
  if (target === undefined) return { operation, reason: 'there is no row to read' };
  try {
    return { operation, target, body: await client.read(operation, target) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const status = error.upstream?.status;
    return { operation, reason: status === undefined ? error.code : `${error.code} (${status})` };
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
function rememberIds(path: string, body: unknown, ids: Map<string, string>): void {
  const results: unknown = isObject(body) ? body['results'] : undefined;
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  if (!isObject(first)) return;
  const id = idText(first['id']);
  const organization = idText(first['organization']);
  if (id !== undefined) ids.set(path, id);
  if (organization !== undefined && !ids.has(organizations)) ids.set(organizations, organization);
}

function describe({ differences, unread, patch, calls }: Findings): string {
  const rows = table<FoundDifference>(differences, [
    { title: 'operation', text: ({ operation }) => operation },
    { title: 'difference', text: ({ kind }) => kind },
    { title: 'column', text: ({ column }) => column },
  ]);
  const notRead = unread.map(({ operation, reason }) => `not read: ${operation}, ${reason}`);
  return [
    ...(differences.length === 0 ? [] : [rows, '']),
    ...notRead,
    ...(patch === '' ? [] : [patch.trimEnd(), '']),
    `${counted(differences.length, 'difference')} in ${counted(calls, 'answer')}`,
  ].join('\n');
}

interface Findings {
  readonly calls: number;
  readonly differences: readonly FoundDifference[];
  readonly unread: readonly { readonly operation: string; readonly reason: string }[];
  /** A unified diff of the OpenAPI document that removes the differences; empty if there is nothing to change. */
  readonly patch: string;
}

interface FoundDifference {
  readonly operation: string;
  readonly kind: DriftKind;
  readonly column: string;
}

/**
 * The differences in the answers, and the patch that removes them from the document. Throws a ConfigError if no
 * operation could be read.
 */
export function findingsOf(results: readonly (Read | Unread)[], openapi: string): Findings {
  const read = results.filter((result) => 'body' in result);
  const unread = results.filter((result) => 'reason' in result);
  const [failed] = unread;
  if (read.length === 0) throw new ConfigError(`drift: no operation could be read: ${failed?.reason ?? ''}`);
  const compared = read.map((one) => ({ operation: one.operation.id, all: differencesOf(one) }));
  return {
    calls: read.length,
    differences: compared.flatMap(({ operation, all }) => unique(operation, all)),
    unread: unread.map(({ operation, reason }) => ({ operation: operation.id, reason })),
    patch: patchOf(
      openapi,
      compared.flatMap(({ all }) => all),
    ),
  };
}

/** Every difference between the rows of an answer and the documented shape of that answer. */
export function differencesOf({ operation, target, body }: Read, answers: Answers = documented): readonly Difference[] {
  const found: Difference[] = [];
  const shape = answers.operations[operation.id];
  if (shape !== undefined) new Comparison(answers, foreignTo(target), (one) => found.push(one)).compare(body, shape);
  return found;
}

function unique(operation: string, differences: readonly Difference[]): readonly FoundDifference[] {
  const found = new Map<string, FoundDifference>();
  for (const { kind, prefix, column } of differences)
    found.set(`${kind} ${prefix}${column}`, { operation, kind, column: prefix + column });
  return [...found.values()];
}
