import { certificateWanted, UpstreamError } from './errors.ts';
import { ProxyFailure } from './transport/connect.ts';
import { TransportError } from './transport/transport.ts';

/**
 * The reason why a call got no answer from the API: a code of Node or OpenSSL, or one of our own. The set is closed, so
 * that it can label metrics.
 */
export type FailureReason = keyof typeof meanings;

/** The place where a call failed. `upstream`: at the upstream, or on the way to it, but not at the proxy. */
export type FailurePlace = 'upstream' | 'proxy';

const meanings = {
  ECONNREFUSED: 'nothing listens at this address and port',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was sent',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to this host',
  ENETUNREACH: 'there is no route to this network',
  EADDRNOTAVAIL: 'this machine has no free address or port for a connection',
  EMFILE: 'this process has too many open files',
  ENFILE: 'this machine has too many open files',
  ENOTFOUND: 'the name of this host does not exist',
  EAI_AGAIN: 'the name server does not answer',
  CONNECT_TIMEOUT: 'no connection, or no tunnel, within 5 seconds',
  CONNECTION_CLOSED:
    'the connection was closed before the answer was complete; some servers do so without a client certificate',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: name it with UPSTREAM_CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an unknown authority: name it with UPSTREAM_CA',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate of an authority is missing: name it with UPSTREAM_CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is signed by an unknown authority: name it with UPSTREAM_CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is signed by an unknown authority: name it with UPSTREAM_CA',
  CLIENT_CERTIFICATE_REFUSED: 'the upstream wants a client certificate, or refuses ours: see UPSTREAM_CLIENT_CERT',
  TLS_VERSION: 'the two sides share no version of TLS',
  NOT_TLS: 'this port does not speak TLS: is UPSTREAM_URL an http URL?',
  TLS_FAILED: 'the TLS handshake failed',
  PROXY_AUTHENTICATION_REQUIRED: 'the proxy wants a user and a password (status 407)',
  PROXY_REFUSED: 'the proxy refused the tunnel',
  NOT_HTTP: 'what came is not HTTP',
  BODY_TOO_LARGE: 'the answer is larger than 8 MiB',
  TIMEOUT: 'no answer in time',
  REDIRECTED: 'the upstream redirects, which the gateway never follows: is UPSTREAM_URL where the API is?',
  WRONG_PATH: 'it answers 404 to /api/projects/: is the path of UPSTREAM_URL right?',
  NOT_THE_API: 'what answers is not the API: its answers are not JSON, or its errors are not those of the API',
  SERVER_ERROR: 'the upstream, or a proxy before it, answers with a status of 500 or more',
  OTHER: 'an error that the gateway does not know',
} as const;

/** All reasons. */
export const failureReasons: readonly FailureReason[] = Object.keys(meanings).filter(isReason);

/** The reasons that mean something else at a proxy. */
const proxyMeanings: Readonly<Partial<Record<FailureReason, string>>> = {
  CLIENT_CERTIFICATE_REFUSED: 'the proxy wants a client certificate, and the gateway never shows one to a proxy',
  NOT_TLS: 'this port does not speak TLS: the URL of the proxy should begin with http://',
};

/** The meaning of a reason, for people. */
export function meaningOf(reason: FailureReason, place: FailurePlace): string {
  return (place === 'proxy' ? proxyMeanings[reason] : undefined) ?? meanings[reason];
}

/** A reason with its meaning, for people. */
export function explained(reason: FailureReason, place: FailurePlace): string {
  return `${reason}${place === 'proxy' ? ' of the proxy' : ''}: ${meaningOf(reason, place)}`;
}

/** The place where a call failed. */
export function placeOf(error: unknown): FailurePlace {
  return proxyFailureIn(error) === undefined ? 'upstream' : 'proxy';
}

/** The HTTP status with which a proxy refused a tunnel or a request; undefined if no proxy did. */
export function proxyStatusOf(error: unknown): number | undefined {
  return proxyFailureIn(error)?.status;
}

function proxyFailureIn(error: unknown): ProxyFailure | undefined {
  if (error instanceof ProxyFailure) return error;
  return error instanceof Error && error.cause !== undefined ? proxyFailureIn(error.cause) : undefined;
}

/** The reason of a failed call; undefined if the API has answered it, with an error of its own. */
export function reasonOf(error: unknown): FailureReason | undefined {
  if (error instanceof TransportError) return reasonOfTransport(error);
  if (!(error instanceof UpstreamError)) return 'OTHER';
  if (error.code === 'UPSTREAM_TIMEOUT' && error.upstream === undefined) return 'TIMEOUT';
  if (error.cause === certificateWanted) return 'CLIENT_CERTIFICATE_REFUSED';
  const status = error.upstream?.status ?? 0;
  if (status === 407) return 'PROXY_AUTHENTICATION_REQUIRED';
  if (status >= 500) return 'SERVER_ERROR';
  if (status >= 300 && status < 400) return 'REDIRECTED';
  // With a status below 500, UPSTREAM_UNAVAILABLE stands for a 429 that came from a proxy, not from the API.
  if (error.code === 'UPSTREAM_INVALID_RESPONSE' || error.code === 'UPSTREAM_UNAVAILABLE') return 'NOT_THE_API';
  return undefined;
}

function reasonOfTransport({ fault, cause }: TransportError): FailureReason {
  if (cause === 'body too large') return 'BODY_TOO_LARGE';
  if (fault === 'invalid') return 'NOT_HTTP';
  return reasonOfCause(cause);
}

/** The reason for the code of an error, or of an error that it wraps. The outermost known code decides. */
function reasonOfCause(cause: unknown): FailureReason {
  if (cause instanceof AggregateError) return reasonOfCause(cause.errors.at(-1));
  if (!(cause instanceof Error)) return 'OTHER';
  if (cause instanceof ProxyFailure && cause.status !== undefined)
    return cause.status === 407 ? 'PROXY_AUTHENTICATION_REQUIRED' : 'PROXY_REFUSED';
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  if (isReason(code)) return code;
  const known = byCode[code];
  if (known !== undefined) return known;
  if (code.startsWith('ERR_SSL_')) return 'TLS_FAILED';
  if (code.startsWith('HPE_')) return 'NOT_HTTP';
  return cause.cause === undefined ? 'OTHER' : reasonOfCause(cause.cause);
}

/** The reasons of codes that are no reasons themselves. Most are codes of OpenSSL. */
const byCode: Readonly<Record<string, FailureReason>> = {
  EPROTO: 'TLS_FAILED',
  ERR_SSL_WRONG_VERSION_NUMBER: 'NOT_TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'NOT_TLS',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'TLS_VERSION',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'TLS_VERSION',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'CLIENT_CERTIFICATE_REFUSED',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'CLIENT_CERTIFICATE_REFUSED',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': 'CLIENT_CERTIFICATE_REFUSED',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'CLIENT_CERTIFICATE_REFUSED',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'CLIENT_CERTIFICATE_REFUSED',
};

function isReason(code: string): code is FailureReason {
  return Object.hasOwn(meanings, code);
}
