import type { IncomingMessage } from 'node:http';

/** Why the head of a request alone is enough to refuse it. */
export interface HeadRefusal {
  readonly kind: 'badHead' | 'manyHeaders';
  readonly message: string;
}

/** More header lines than any client or proxy sends. */
const maximumHeaders = 100;

/** What ends the host of a URL: it would make another URL of the one that is put together from it. */
const notInHost = /[\s/\\?#@]/;

/**
 * What is wrong with the head of a request; undefined: nothing. Node's parser refuses most of what is malformed before;
 * what it lets pass, a proxy in front may have read in another way.
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

/** How often a header of this name, in lower case, stands among names and values in turn: node keeps the first only. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at] ?? '';
    // Nearly all names differ in length.
    if (other.length === name.length && other.toLowerCase() === name) count += 1;
  }
  return count;
}

/**
 * The host that was last found to be one: most requests name the same. Hosts have at most so many characters (RFC 1035
 * §2.3.4).
 */
let lastHost = '';
const longestHost = 260;

/** HTTP/1.0 needs none, and an empty one is allowed (RFC 9110 §7.2). */
function isHost(host = ''): boolean {
  if (host === '' || host === lastHost) return true;
  if (notInHost.test(host) || !URL.canParse(`http://${host}/`)) return false;
  if (host.length <= longestHost) lastHost = host;
  return true;
}

function badRequest(message: string): HeadRefusal {
  return { kind: 'badHead', message };
}
