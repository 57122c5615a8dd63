import { createGateway, type Gateway, type GatewayOptions } from '../../src/gateway.ts';
import { type ServerOptions, startServer } from '../../src/server/server.ts';
import { readConfig } from '../../src/settings/config.ts';

/** The key that tests ask with unless they say otherwise. */
export const key = 'phx_test';

/** The request of a test, beside the query. */
export interface Request {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** An answer of the gateway. `data` is untyped on purpose: tests compare it with what they expect. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; a wrong path makes the test fail
  readonly data: any;
  readonly errors?: readonly GraphQLFailure[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** One error of an answer. */
export interface GraphQLFailure {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** A gateway that listens on loopback. */
export interface TestGateway extends AsyncDisposable {
  /** The URL of its GraphQL endpoint. */
  readonly url: string;
  readonly gateway: Gateway;
  /** Unexpected errors; a test that provokes none should find it empty. */
  readonly reported: readonly unknown[];
  ask(query: string, request?: Request): Promise<Answer>;
}

/** The settings of a gateway, unless a test says otherwise. */
const defaults = {
  ...readConfig({}),
  upstreamConnections: 128,
  operationDeadlineMs: 20_000,
  explain: false,
  driftSampleRate: 0,
  cursorSecret: 'secret of the tests',
};

/** Starts a gateway over an upstream, and serves it. */
export async function startGateway(
  upstream: { readonly url: string },
  options: Partial<GatewayOptions> = {},
  serverOptions: Partial<ServerOptions> = {},
): Promise<TestGateway> {
  const reported: unknown[] = [];
  const gateway = await createGateway({
    ...defaults,
    upstreamUrl: upstream.url,
    report: (error) => reported.push(error),
    log: () => undefined,
    ...options,
  });
  const server = await startServer(gateway, {
    port: 0,
    host: '127.0.0.1',
    stopDelayMs: 0,
    // It is stopped after each test, thousands of times: nothing is waited for.
    drainMs: 0,
    compression: options.compression ?? true,
    metrics: true,
    log: () => undefined,
    ...serverOptions,
  });
  const url = `${server.url}/graphql`;
  return {
    url,
    gateway,
    reported,
    ask: (query, request) => ask(url, query, request),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Asks a gateway as an ordinary client does: POST, JSON. */
export async function ask(url: string, query: string, { headers, signal, ...params }: Request = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ query, ...params }),
    ...(signal !== undefined && { signal }),
  });
  return readAnswer(response);
}

/** Reads an answer in JSON. */
export async function readAnswer(response: Response): Promise<Answer> {
  const body = await response.text();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it really is, the tests find out
  const result = JSON.parse(body) as Pick<Answer, 'data' | 'errors' | 'extensions'>;
  return { status: response.status, headers: response.headers, body, ...result };
}
