import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Answer } from './call.ts';
import { ApiError, invalid } from './errors.ts';
import { parseJson } from './json.ts';

// As `import`, the module would load Node's HTTP client of a browser, which takes 30 ms.
const { createServer } = process.getBuiltinModule('node:http');

/** Answers one request. Throws an ApiError for what the caller is told. */
export type Answering = (request: IncomingMessage) => Promise<Answer>;

/** Largest body of a request, in bytes. */
const mostBytes = 2 ** 20;

/** How long a connection without requests is kept, in milliseconds: longer than pools of clients keep theirs. */
const keepAliveMs = 72_000;

/** A server that does not listen yet. */
export function createHttpServer(answer: Answering): Server {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    const respond = (answered: Answer): void => {
      // Else a server that closes would wait for its clients to end their connections.
      if (!server.listening) response.setHeader('connection', 'close');
      send(response, answered);
    };
    answer(request).then(respond, (error: unknown) => {
      if (request.destroyed && !request.complete) return;
      respond(toAnswer(error, request));
    });
  });
  return server;
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  // An empty body has a length, because Node would send it in chunks. A 204 has no body.
  if (body === undefined)
    return void response.writeHead(status, { ...headers, ...(status !== 204 && { 'content-length': 0 }) }).end();
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  const contentType = `${isText ? 'text/csv' : 'application/json'}; charset=utf-8`;
  const described = { 'content-type': contentType, 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, { ...headers, ...described }).end(text);
}

function toAnswer(error: unknown, request: IncomingMessage): Answer {
  const failure = error instanceof ApiError ? error : new ApiError(500, 'error', 'A server error occurred.');
  if (failure !== error) report(error);
  const { status, headers } = failure;
  // As in the known deployment: a client that asks for CSV is not told what went wrong.
  return { status, headers, body: targetOf(request).query.format === 'csv' ? '' : failure };
}

/** Prints an error that is no refusal, as a line of JSON: in production all lines are JSON. */
function report(error: unknown): void {
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${JSON.stringify({ level: 50, time: Date.now(), msg: 'the workspace failed', stack })}\n`);
}

/** What a request asks for. */
export interface Target {
  /** The path with the query, not decoded. */
  readonly url: string;
  /** Not decoded. */
  readonly path: string;
  /** The last of several equal names counts. */
  readonly query: Readonly<Record<string, string>>;
}

/** What the first line of a request asks for. */
export function targetOf(request: IncomingMessage): Target {
  // Some proxies pass on the whole URL.
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
  const [path = '', ...search] = url.split('?');
  return { url, path, query: Object.fromEntries(new URLSearchParams(search.join('?'))) };
}

/** Reads the JSON in the body of a request. A missing body is an empty object. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const { headers } = request;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  if (type === undefined && isEmpty) return {};
  if (type !== 'application/json')
    throw new ApiError(415, 'unsupported_media_type', 'Unsupported media type in request.');
  const text = await readText(request);
  try {
    return text === '' ? {} : parseJson(text);
  } catch {
    throw invalid(undefined, 'JSON parse error.', 'parse_error');
  }
}

/** Closes the connection, because the rest of the body may be endless. */
function tooLarge(): ApiError {
  return new ApiError(413, 'invalid_input', 'Request body is too large', { headers: { connection: 'close' } });
}

function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}
