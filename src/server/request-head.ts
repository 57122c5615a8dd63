import type { IncomingMessage } from 'node:http';

/** The refusal of a request because of its head. */
export interface HeadRefusal {
  readonly kind: 'badHead' | 'manyHeaders';
  readonly message: string;
}

/** The maximum number of header lines of a request: more than any client or proxy sends. */
const maximumHeaders = 100;

/** Characters that end the host of a URL. A host with one of them would change the URL that is made from it. */
const notInHost = /[\s/\\?#@]/;

/**
 * The refusal of a malformed head; undefined if the head is well-formed. Node's parser refuses most malformed heads.
 * The remaining ones are refused here, because a proxy in front may have read them differently.
 */
export function refusalOfHead({ rawHeaders, headers }: IncomingMessage): HeadRefusal | undefined {
  if (rawHeaders.length > maximumHeaders * 2) {
    const message = `Expected at most ${maximumHeaders} headers, but got ${rawHeaders.length / 2}.`;
    return { kind: 'manyHeaders', message };
  }
  if (!isHost(headers.host)) return badRequest('Expected `Host` to be a host with or without a port.');
  if (countOf('host', rawHeaders) > 1) return badRequest('Expected one `Host` header, but got several.');
  const coding = headers['transfer-encoding'];
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined;
  return badRequest('Expected `Transfer-Encoding` to be chunked, but got another coding.');
}

/**
 * The number of headers with this lower-case name. They are counted in the raw headers, because node's `headers` has
 * only the first.
 */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at] ?? '';
    // Nearly all names differ in length.
    if (other.length === name.length && other.toLowerCase() === name) count += 1;
  }
  return count;
}

/** The last valid host, because most requests have the same. */
let lastHost = '';

/** The longest host that is remembered, in characters (RFC 1035 §2.3.4). */
const longestHost = 260;

/** True if a `Host` is valid. HTTP/1.0 needs none, and an empty one is allowed (RFC 9110 §7.2). */
function isHost(host = ''): boolean {
  if (host === '' || host === lastHost) return true;
  if (notInHost.test(host) || !URL.canParse(`http://${host}/`)) return false;
  if (host.length <= longestHost) lastHost = host;
  return true;
}

function badRequest(message: string): HeadRefusal {
  return { kind: 'badHead', message };
}
