import { type Reply, type Sending, sendOnce, sendRead, toDomainError } from './attempts.ts';
import { UpstreamError } from './errors.ts';
import { Flights } from './flights.ts';
import { parseJson } from './json.ts';
import type { Lifetime } from './lifetime.ts';
import { type Call, createTransport, type Transport } from './transport.ts';

/** Who asks: the personal API key, and what stands for it wherever something is shared or counted. */
export interface Caller {
  readonly key: string;
  /** SHA-256 of the full Authorization value. */
  readonly hash: string;
}

/** W3C trace context headers, the only headers beside the key that go upstream. */
export type TraceContext = Readonly<Record<string, string>>;

/** REST calls in the name of one caller, within one operation's lifetime. All fail with an UpstreamError. */
export interface RestClient {
  /** The JSON that a GET answers. `target` is the path with its query. Equal reads in flight are one call. */
  readonly getJson: (target: string) => Promise<unknown>;
  /** The text that a GET answers as `text/csv`. */
  readonly getCsv: (target: string) => Promise<string>;
  /** The JSON that a write answers, undefined where it answers none. Sent exactly once. */
  readonly write: (method: 'POST' | 'PATCH' | 'DELETE', target: string, body?: unknown) => Promise<unknown>;
}

/** Settings of the REST side. */
export interface UpstreamOptions {
  /** Absolute URL, possibly with a path that is put before every path of the API. */
  readonly url: string;
  readonly connections: number;
  readonly maxBodyBytes: number;
}

/** The REST API, shared by all operations. */
export interface Upstream {
  readonly clientFor: (caller: Caller | undefined, lifetime: Lifetime, trace?: TraceContext) => RestClient;
  readonly close: () => Promise<void>;
}

/** Connects to the REST API at `url`; nothing is sent yet. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(options.url);
  const transport = createTransport({ ...options, origin });
  const shared: Shared = {
    transport,
    prefix: pathname.replace(/\/+$/, ''),
    maxBodyBytes: options.maxBodyBytes,
    json: new Flights(),
    csv: new Flights(),
  };
  return {
    clientFor: (caller, lifetime, trace = {}) =>
      caller === undefined ? strangersClient : createClient(shared, caller, lifetime, trace),
    close: () => transport.close(),
  };
}

interface Shared {
  readonly transport: Transport;
  readonly prefix: string;
  readonly maxBodyBytes: number;
  readonly json: Flights<unknown>;
  readonly csv: Flights<string>;
}

/** Without a well-formed key nothing is sent. */
const strangersClient: RestClient = {
  getJson: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  getCsv: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
  write: () => Promise.reject(new UpstreamError('UNAUTHENTICATED')),
};

function createClient(shared: Shared, caller: Caller, lifetime: Lifetime, trace: TraceContext): RestClient {
  const headers = { ...trace, authorization: `Bearer ${caller.key}`, 'accept-encoding': 'gzip, deflate, br' };
  const read = <T>(flights: Flights<T>, target: string, accept: string, decode: (reply: Reply) => T): Promise<T> => {
    if (lifetime.ended !== undefined) return Promise.reject(lifetime.ended);
    const call: Call = { method: 'GET', target: shared.prefix + target, headers: { ...headers, accept } };
    return flights.board(caller.hash, target, lifetime, (flight) =>
      decoded(sendRead(shared.transport, call, caller.key, shared.maxBodyBytes, flight), decode),
    ).result;
  };
  return {
    getJson: (target) => read(shared.json, target, 'application/json', jsonOf),
    getCsv: (target) => read(shared.csv, target, 'text/csv', csvOf),
    write: (method, target, body) => {
      if (lifetime.ended !== undefined) return Promise.reject(lifetime.ended);
      const content = body === undefined ? {} : { 'content-type': 'application/json' };
      const call: Call = {
        method,
        target: shared.prefix + target,
        headers: { ...headers, ...content, accept: 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      return writeOnce(shared, caller, lifetime, call);
    },
  };
}

/** Reads that began before a write, or during it, are shared with none that comes after it. */
async function writeOnce(shared: Shared, caller: Caller, lifetime: Lifetime, call: Call): Promise<unknown> {
  const ground = (): void => {
    shared.json.ground(caller.hash);
    shared.csv.ground(caller.hash);
  };
  ground();
  const sending = sendOnce(shared.transport, call, caller.key, shared.maxBodyBytes);
  let forget = (): void => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    forget = lifetime.onEnd((error) => {
      reject(error);
      sending.cancel();
    });
  });
  try {
    return writtenJson(call, await Promise.race([sending.result, ended]));
  } catch (error) {
    throw toDomainError(error);
  } finally {
    forget();
    ground();
  }
}

function decoded<T>(sending: Sending, decode: (reply: Reply) => T): { result: Promise<T>; cancel: () => void } {
  const result = sending.result.then(decode, (error: unknown) => {
    throw toDomainError(error);
  });
  return { result, cancel: sending.cancel };
}

function jsonOf({ status, contentType, text }: Reply): unknown {
  if (/^text\/csv\b/i.test(contentType)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  try {
    return parseJson(text);
  } catch {
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  }
}

/** A proxy's error page with status 200 must not pass for a table. */
function csvOf({ status, contentType, text }: Reply): string {
  const foreign = /json|html|xml/i.test(contentType) || text.trimStart().startsWith('<');
  if (foreign) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return text;
}

/** A delete's answer says nothing but its status; known deployments send it with and without a body. */
function writtenJson(call: Call, reply: Reply): unknown {
  if (reply.status === 204 || reply.text === '') return undefined;
  if (call.method !== 'DELETE') return jsonOf(reply);
  try {
    return jsonOf(reply);
  } catch {
    return undefined;
  }
}
