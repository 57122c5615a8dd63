import type { IncomingMessage } from 'node:http';
import { isIP, type OnReadOpts, connect as openTcp, type Socket } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext, connect as startTls } from 'node:tls';
import { RequestHeads } from './request-heads.ts';

/** The route to the upstream: by default, a direct connection. */
export interface Route {
  /** The URL of a proxy, with its user and password. */
  readonly proxy?: string | undefined;
  /** PEM certificates of authorities that are trusted beside those that Node trusts. */
  readonly authorities?: string | undefined;
  /** For an upstream that asks for it. A proxy on the way never gets it. */
  readonly client?: ClientCertificate | undefined;
}

/** A certificate with its intermediates, and its private key, both in PEM form. */
interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** The error of a proxy that cannot be reached, or has refused the tunnel or a request with a status. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly status: number | undefined;

  constructor(cause: unknown, status?: number) {
    super('the proxy failed', { cause });
    this.status = status;
  }
}

/** The codes of failed connections for which Node has no error. */
type ConnectionFault = 'CONNECT_TIMEOUT' | 'CONNECTION_CLOSED';

/** The error of a connection that was not opened in time, or that closed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: ConnectionFault;

  constructor(code: ConnectionFault) {
    super(code);
    this.code = code;
  }
}

/** A connection that is being opened. */
export interface Opening {
  /** Rejects if it cannot be opened, or is cancelled. */
  readonly socket: Promise<Socket>;
  cancel(): void;
}

/** The bytes are valid during the call only. */
type OnBytes = (bytes: Buffer) => void;

/** The longest that a connection may take to open, through a proxy and with TLS, in milliseconds. */
const connectMs = 5000;

/** The idle time after which TCP asks whether the other side is still there, in milliseconds. */
const probeAfterMs = 60_000;

/**
 * All connections without a tunnel read into this buffer, because bytes are consumed before the next read. A buffer for
 * each read would be most of the garbage of a call.
 */
const readBuffer = Buffer.allocUnsafeSlow(2 ** 17);

/** One end of a connection: the upstream, or a proxy on the way to it. */
interface End {
  readonly host: string;
  readonly port: number;
  /** Undefined without TLS. */
  readonly tls: { readonly secureContext?: SecureContext } | undefined;
}

/** Opens connections to one origin by one route. Certificates are parsed once, and not for each connection. */
export class Connector {
  readonly heads: RequestHeads;
  /** True if a proxy on the way reads the requests, and may answer them itself. */
  readonly isByProxy: boolean;
  readonly #origin: End;
  readonly #proxy: End | undefined;
  readonly #tunnelAuthorization: string | undefined;
  /** The session of the latest TLS connection, which makes the next handshake short. */
  #session: Buffer | undefined;

  constructor(origin: string, { proxy, authorities, client }: Route) {
    const trust = authorities === undefined ? {} : { ca: [...getCACertificates('default'), authorities] };
    const trusted = authorities === undefined ? {} : { secureContext: createSecureContext(trust) };
    const { certificate: cert, key } = client ?? {};
    const own = client === undefined ? trusted : { secureContext: createSecureContext({ ...trust, cert, key }) };
    this.#origin = endOf(new URL(origin), own);
    this.#proxy = proxy === undefined ? undefined : endOf(new URL(proxy), trusted);
    const authorization = proxy === undefined ? undefined : authorizationIn(new URL(proxy));
    const isTunnel = this.#origin.tls !== undefined;
    this.isByProxy = this.#proxy !== undefined && !isTunnel;
    const ofProxy = isTunnel || authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`;
    this.heads = new RequestHeads(this.isByProxy ? origin : '', `host: ${new URL(origin).host}\r\n${ofProxy}`);
    this.#tunnelAuthorization = authorization;
  }

  /** `onBytes` gets all bytes that come. */
  open(onBytes: OnBytes): Opening {
    const steps = new ConnectSteps();
    const socket = this.#open(steps, onBytes)
      .catch((error: unknown) => {
        // A server that cannot resume the session would refuse every later connection, too.
        this.#session = undefined;
        throw error;
      })
      .finally(() => steps.end());
    return { socket, cancel: () => steps.cancel(new ConnectionError('CONNECTION_CLOSED')) };
  }

  async #open(steps: ConnectSteps, onBytes: OnBytes): Promise<Socket> {
    if (this.#proxy === undefined) return steps.opened(this.#openSocket(this.#origin, onBytes), this.#origin);
    if (this.#origin.tls === undefined)
      return byProxy(steps.opened(this.#openSocket(this.#proxy, onBytes), this.#proxy));
    const tunnel = await byProxy(this.#tunnel(steps, this.#proxy));
    const socket = startTls({ ...this.#tlsOptions(this.#origin), socket: tunnel });
    socket.on('data', onBytes);
    return steps.opened(this.#keepSession(socket), this.#origin);
  }

  #openSocket(end: End, onBytes: OnBytes | undefined): Socket {
    const { host, port } = end;
    const options = {
      ...{ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfterMs },
      ...(onBytes !== undefined && { onread: intoReadBuffer(onBytes) }),
    };
    if (end.tls === undefined) return openTcp(options);
    const socket = startTls({ ...options, ...this.#tlsOptions(end) });
    return end === this.#origin ? this.#keepSession(socket) : socket;
  }

  #tlsOptions(end: End) {
    const { host } = end;
    return {
      ...end.tls,
      host,
      // Node refuses IP addresses as server names.
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(end === this.#origin && this.#session !== undefined && { session: this.#session }),
    };
  }

  #keepSession(socket: Socket): Socket {
    return socket.on('session', (session: Buffer) => {
      this.#session = session;
    });
  }

  /** Asks the proxy for a tunnel to the upstream (RFC 9110 §9.3.6). */
  async #tunnel(steps: ConnectSteps, proxy: End): Promise<Socket> {
    const connected = await steps.opened(this.#openSocket(proxy, undefined), proxy);
    const { host, port } = this.#origin;
    const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const authorization = this.#tunnelAuthorization;
    const headers = { host: path, ...(authorization !== undefined && { 'proxy-authorization': authorization }) };
    const { request } = process.getBuiltinModule('node:http');
    const asked = request({ method: 'CONNECT', path, headers, createConnection: () => connected });
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    steps.watch(asked, reject);
    asked.on('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket, first: Buffer) => {
      if (statusCode >= 200 && statusCode < 300 && first.length === 0) return resolve(socket);
      socket.destroy();
      reject(new ProxyFailure(undefined, statusCode));
    });
    asked.end();
    return promise;
  }
}

function intoReadBuffer(onBytes: OnBytes): OnReadOpts {
  return {
    buffer: readBuffer,
    callback: (length) => {
      onBytes(readBuffer.subarray(0, length));
      return true;
    },
  };
}

interface Endable {
  destroy(error?: Error): unknown;
  on(event: 'error' | 'close', listener: (error: Error) => void): unknown;
}

/** The steps to one open connection, with one time limit for all. */
class ConnectSteps {
  readonly #timer = setTimeout(() => this.cancel(new ConnectionError('CONNECT_TIMEOUT')), connectMs);
  #step: Endable | undefined;
  #cancelled: Error | undefined;

  cancel(error: Error): void {
    this.#cancelled = error;
    this.#step?.destroy(error);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  watch(step: Endable, failed: (error: Error) => void): void {
    this.#step = step;
    step.on('error', (error) => failed(isHangUp(error) ? new ConnectionError('CONNECTION_CLOSED') : error));
    step.on('close', () => failed(new ConnectionError('CONNECTION_CLOSED')));
    if (this.#cancelled !== undefined) step.destroy(this.#cancelled);
  }

  /** Resolves to a socket once it is connected and has finished its TLS handshake. */
  opened(socket: Socket, { tls }: End): Promise<Socket> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    this.watch(socket, reject);
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => resolve(socket));
    return promise;
  }
}

/**
 * True if Node's HTTP client reports a closed connection. The error of a reset connection has the same code, but names
 * a system call.
 */
function isHangUp(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' && error.syscall === undefined;
}

/** Turns errors of opening a connection to a proxy into ProxyFailures. */
function byProxy(opened: Promise<Socket>): Promise<Socket> {
  return opened.catch((error: unknown) => {
    throw error instanceof ProxyFailure ? error : new ProxyFailure(error);
  });
}

function endOf({ protocol, hostname, port }: URL, tls: NonNullable<End['tls']>): End {
  const isTls = protocol === 'https:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    tls: isTls ? tls : undefined,
  };
}

function authorizationIn({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
