import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerHeaders } from '../http/response.ts';
import type { Usage } from '../telemetry/client-usage.ts';

/** What operators may do over HTTP, and who is an operator. */
export interface AdminOptions {
  /** The token as it is now. */
  readonly token: () => string;
  /** Who has used what, added up over all workers. */
  readonly usage: () => Promise<Usage>;
}

/** Answers requests below `/admin/`. */
export type AdminEndpoint = (request: IncomingMessage, response: ServerResponse) => void;

/** Valid requests that are taken each second. */
const mostPerSecond = 10;

/** One path: the method that it takes, and what makes the answer. */
interface AdminPath {
  readonly method: 'GET' | 'POST';
  readonly answer: (request: IncomingMessage) => Promise<AdminAnswer>;
}

interface AdminAnswer {
  readonly status: number;
  readonly body: object;
}

/** Serves operators who show the token. Nothing else is looked at of a request without it. */
export function createAdminEndpoint({ token, usage }: AdminOptions): AdminEndpoint {
  const paths: Readonly<Record<string, AdminPath>> = {
    '/admin/usage': { method: 'GET', answer: async () => ({ status: 200, body: await usage() }) },
  };
  const takesOneMore = createRateLimit();
  return (request, response) => {
    if (!isAuthorized(request, token())) {
      response.setHeader('www-authenticate', 'Bearer');
      return sendJson(response, 401, errorOf('expected Authorization: Bearer with the token in ADMIN_TOKEN_FILE'));
    }
    if (!takesOneMore()) {
      response.setHeader('retry-after', '1');
      return sendJson(response, 429, errorOf(`expected at most ${mostPerSecond} requests a second`));
    }
    const [name = ''] = (request.url ?? '').split('?', 1);
    const path = Object.hasOwn(paths, name) ? paths[name] : undefined;
    if (path === undefined) {
      return sendJson(response, 404, errorOf(`there is nothing here; expected ${Object.keys(paths).join(' or ')}`));
    }
    if (request.method !== path.method) {
      response.setHeader('allow', path.method);
      return sendJson(response, 405, errorOf(`expected ${path.method}`));
    }
    path.answer(request).then(
      ({ status, body }) => sendJson(response, status, body),
      () => sendJson(response, 503, errorOf('not all processes of the gateway have answered')),
    );
  };
}

/** Hashes have equal lengths, so the comparison takes as long for any text. */
function isAuthorized({ headers: { authorization = '' } }: IncomingMessage, token: string): boolean {
  const [given, expected] = [authorization, `Bearer ${token}`].map((text) => hash('sha256', text, 'buffer'));
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

function errorOf(error: string): object {
  return { error };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  if (response.closed) return;
  const text = `${JSON.stringify(body)}\n`;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...answerHeaders };
  response.writeHead(status, headers).end(text);
}
