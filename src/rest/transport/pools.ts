import { isIP } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import connectThrough from 'undici/lib/api/api-connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

/** The route to the upstream. Without settings it is a direct connection. */
export interface Route {
  /** URL of a proxy, with user and password if it needs them. */
  readonly proxy?: string | undefined;
  /** Certificates, in PEM form, of authorities that are trusted beside those that Node trusts. */
  readonly authorities?: string | undefined;
  /** The certificate for an upstream that asks for one. A proxy on the way never gets it. */
  readonly client?: ClientCertificate | undefined;
}

/** A certificate, with its intermediates after it, and its private key, both in PEM form. */
interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** The error of a connection through a proxy: it cannot be reached, or it refused the tunnel with a status. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly status: number | undefined;

  constructor(cause: unknown, status?: number) {
    super('the proxy failed', { cause });
    this.status = status;
  }
}

/** The origin of connections, and the most of them. */
export interface PoolOptions {
  readonly origin: string;
  readonly connections: number;
}

/** One HTTP request to the upstream: `target` is path and query, sent byte for byte. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** True if it needs a new connection, on which nothing was sent before. */
  readonly fresh?: boolean;
}

/**
 * The connections of one route. Certificates belong to connections, so a new route needs new connections. The old ones
 * are closed when their last call has ended. undici's own `close` waits for calls, too, but its ProxyAgent then opens
 * no tunnels for calls that are still waiting.
 */
export class Pools {
  readonly #options: PoolOptions;
  readonly #way: Way;
  readonly #kept: Dispatcher;
  /** Connections that are closed after one request, so that each request has a new one. */
  #fresh: Dispatcher | undefined;
  #calls = 0;
  #isRetired = false;

  constructor(options: PoolOptions, route: Route) {
    this.#options = options;
    this.#way = wayOf(route);
    this.#kept = createDispatcher(options, this.#way);
  }

  /** Sends a request, on a new connection if it must be `fresh`. The sender reports its end with `ended`. */
  dispatch(call: Call, handler: Dispatcher.DispatchHandler): void {
    const { target: path, method, headers, body = null, fresh = false } = call;
    this.#calls += 1;
    const { origin } = this.#options;
    const dispatcher = fresh ? this.#freshDispatcher() : this.#kept;
    dispatcher.dispatch({ origin, path, method, headers, body, reset: fresh }, handler);
  }

  #freshDispatcher(): Dispatcher {
    this.#fresh ??= createDispatcher(this.#options, this.#way);
    return this.#fresh;
  }

  /** Reports the end of a call, with or without an answer. */
  ended(): void {
    this.#calls -= 1;
    // Later, because undici is still working on this call.
    if (this.#isRetired && this.#calls === 0) setImmediate(() => void this.destroy());
  }

  /** Closes the connections once the last call has ended. No more calls are sent. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls === 0) void this.destroy();
  }

  /** Closes all connections; calls that use them fail. */
  async destroy(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh?.destroy()]);
  }
}

const connectTimeout = 5000;

/** A route in the form that undici takes. */
interface Way {
  readonly proxy: string | undefined;
  /** For TLS with the upstream. */
  readonly tls: Tls;
  /** For TLS with the proxy. */
  readonly proxyTls: Tls;
}

interface Tls {
  readonly secureContext?: SecureContext;
}

/** Reads the certificates once. Node would read all of its authorities again for each connection. */
function wayOf({ proxy, authorities, client }: Route): Way {
  if (authorities === undefined && client === undefined) return { proxy, tls: {}, proxyTls: {} };
  const trust = authorities === undefined ? {} : { ca: [...getCACertificates('default'), authorities] };
  const proxyTls = { secureContext: createSecureContext(trust) };
  if (client === undefined) return { proxy, tls: proxyTls, proxyTls };
  const { certificate: cert, key } = client;
  return { proxy, tls: { secureContext: createSecureContext({ ...trust, cert, key }) }, proxyTls };
}

function createDispatcher({ origin, connections }: PoolOptions, { proxy, tls, proxyTls }: Way): Dispatcher {
  const settings = {
    connections,
    pipelining: 1,
    // The HTTP/2 client of undici lost requests when a server closed a connection (GOAWAY).
    allowH2: false,
    // The operation's deadline is the only time limit: these timers of undici measure idle time.
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout,
    keepAliveTimeout: 4000,
  };
  if (proxy === undefined) return new Pool(origin, { ...settings, connect: tls });
  const { origin: proxyOrigin } = new URL(proxy);
  return new ProxyAgent({
    ...settings,
    uri: proxy,
    requestTls: tls,
    proxyTls,
    // Without it, undici's pools have default settings, and a silent proxy keeps its connection for minutes.
    factory: (to, given) => {
      const options: Pool.Options = Object.assign({}, given, settings);
      // Requests that need no tunnel are sent to the proxy itself.
      return new Pool(to, new URL(to).origin === proxyOrigin ? connectingToProxy(options) : options);
    },
    clientFactory: (to, given) =>
      createTunnels(to, Object.assign({}, given, { connections, headersTimeout: connectTimeout })),
  });
}

/** A connector for connections to a proxy. It marks their errors as the proxy's. */
function toProxy(connect: Connect): Connect {
  if (typeof connect !== 'function') return connect;
  return (options, callback) => {
    const name = options.servername ?? '';
    // undici always sets the proxy's host as server name, and Node refuses IP addresses there.
    const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0;
    connect({ ...options, servername: isAddress ? '' : name }, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyFailure(error), null);
    });
  };
}

function connectingToProxy({ connect, ...options }: Pool.Options): Pool.Options {
  return connect === undefined ? options : { ...options, connect: toProxy(connect) };
}

type Connect = NonNullable<Pool.Options['connect']>;

/** Connections to a proxy, over which tunnels are opened. */
function createTunnels(proxy: URL, options: Pool.Options): Pool {
  const pool = new Pool(proxy, connectingToProxy(options));
  const connect = async (to: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await connectThrough
      .call(pool, to)
      .catch((error: unknown) => Promise.reject(new ProxyFailure(error)));
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(undefined, answer.statusCode);
  };
  return Object.assign(pool, { connect });
}
