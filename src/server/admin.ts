import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../error-text.ts';
import { type Followed, follow } from '../follow.ts';
import type { Handle } from '../http/handle.ts';
import type { Log } from '../log.ts';
import type { Purge, PurgeTarget } from '../rest/cache/operator-purge.ts';
import { isObject, jsonIn } from '../rest/values.ts';
import { adminTokenIn } from '../settings/setting-files.ts';
import type { Usage } from '../telemetry/client-usage.ts';
import { closeAfter } from './client-connections.ts';
import { sendJson } from './endpoints.ts';

/**
 * Reads the token in a file, and reads it again when the file changes. If the new token cannot be used, the reason is
 * logged and the previous token stays.
 */
export function followAdminToken(path: string, log: Log): Promise<Followed<string>> {
  const read = (): string => adminTokenIn(path);
  return follow({ name: 'tokens of ADMIN_TOKEN_FILE', patterns: () => [path], first: read, again: read, log });
}

/** The functions that operators may use over HTTP, and the token that they need. */
export interface AdminOptions {
  readonly token: () => string;
  /** The usage by client, summed over all workers. */
  readonly usage: () => Promise<Usage>;
  readonly purge: Purge;
  readonly log: Log;
}

/** The most authorised requests in one second. */
const mostPerSecond = 10;

interface AdminPath {
  readonly method: 'GET' | 'POST';
  readonly answer: (request: IncomingMessage) => Promise<AdminAnswer>;
}

interface AdminAnswer {
  readonly status: number;
  readonly body: object;
}

/** Sends an answer to an operator, with a line break for terminals. */
function send(response: ServerResponse, status: number, body: object): void {
  sendJson(response, status, body, '\n');
}

/**
 * Serves operators who send the token. A request without the token is refused, and its connection closed, without
 * waiting for its body.
 */
export function createAdminEndpoint({ token, usage, purge, log }: AdminOptions): Handle {
  const paths: Readonly<Record<string, AdminPath>> = {
    '/admin/usage': { method: 'GET', answer: async () => ({ status: 200, body: await usage() }) },
    '/admin/cache/purge': { method: 'POST', answer: async (request) => answerPurge(await targetIn(request), purge) },
  };
  const takesOneMore = createRateLimit();
  return (request, response) => {
    if (!isAuthorized(request, token())) {
      response.setHeader('www-authenticate', 'Bearer');
      closeAfter(response);
      return send(response, 401, { error: 'expected Authorization: Bearer with the token in ADMIN_TOKEN_FILE' });
    }
    if (!takesOneMore()) {
      response.setHeader('retry-after', '1');
      return send(response, 429, { error: `expected at most ${mostPerSecond} requests a second` });
    }
    const [name = ''] = (request.url ?? '').split('?', 1);
    const path = Object.hasOwn(paths, name) ? paths[name] : undefined;
    if (path === undefined) {
      return send(response, 404, { error: `there is nothing here; expected ${Object.keys(paths).join(' or ')}` });
    }
    if (request.method !== path.method) {
      response.setHeader('allow', path.method);
      return send(response, 405, { error: `expected ${path.method}` });
    }
    path.answer(request).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => {
        // If an operator leaves, the request can no longer be read. That is no fault, so it is not logged.
        if (!response.closed) log('error', "an operator's request failed", { path: name, reason: messageOf(error) });
        send(response, 503, { error: 'not all processes of the gateway have answered' });
      },
    );
  };
}

async function answerPurge(target: PurgeTarget | undefined, purge: Purge): Promise<AdminAnswer> {
  if (target === undefined) {
    const expected = '{"tenant": "NAME"}, {"keySha256": "64 hexadecimal digits"} or {"all": true}';
    return { status: 400, body: { error: `expected ${expected} as JSON` } };
  }
  const purged = await purge(target);
  switch (purged) {
    case 'no cache':
      return { status: 409, body: { error: 'nothing is cached: CACHE_TTL is not set' } };
    case 'unknown tenant':
      return { status: 404, body: { error: 'UPSTREAM_KEYS has no such tenant' } };
    case 'out of reach':
      return { status: 503, body: { error: 'not all that share the cache could be told: ask again' } };
    default:
      return { status: 200, body: { keys: purged } };
  }
}

const maxBytes = 4096;

/** The target that a request asks to purge; undefined if the request is malformed. */
async function targetIn(request: IncomingMessage): Promise<PurgeTarget | undefined> {
  let text = '';
  // Input beyond the limit is read and dropped, because the next request on the connection comes after it.
  for await (const chunk of request.setEncoding('utf8')) if (text.length <= maxBytes) text += String(chunk);
  if (text.length > maxBytes) return undefined;
  const value = jsonIn(text);
  const [entry, ...others] = isObject(value) ? Object.entries(value) : [];
  if (entry === undefined || others.length > 0) return undefined;
  const [name, target] = entry;
  if (name === 'all' && target === true) return { all: true };
  if (typeof target !== 'string') return undefined;
  if (name === 'tenant') return { tenant: target };
  return name === 'keySha256' && /^[\da-f]{64}$/i.test(target) ? { keySha256: target } : undefined;
}

/**
 * True if a request has the token. The hashes have equal lengths, so the comparison takes the same time for every text.
 * The scheme may be in lower case (RFC 9110 §11.1), as everywhere in the gateway.
 */
function isAuthorized({ headers: { authorization = '' } }: IncomingMessage, token: string): boolean {
  const [given, expected] = [authorization.replace(/^bearer /i, 'Bearer '), `Bearer ${token}`].map((text) =>
    hash('sha256', text, 'buffer'),
  );
  return given !== undefined && expected !== undefined && timingSafeEqual(given, expected);
}

function createRateLimit(): () => boolean {
  let second = 0;
  let taken = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, taken] = [now, 0];
    taken += 1;
    return taken <= mostPerSecond;
  };
}
