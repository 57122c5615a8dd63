import type { IncomingMessage, ServerResponse } from 'node:http';
import { freeLarge } from '../rest/transport/chunks.ts';
import { sliceLength } from './byte-stream.ts';
import { type CompleteAnswer, codingFor, inCoding } from './compression.ts';
import { answerHeaders } from './response.ts';
import { noteRead, watchReader } from './slow-readers.ts';

/** Sends a complete answer and adds the headers that describe its body. Does nothing if the client has left. */
export type Send = (request: IncomingMessage, response: ServerResponse, answer: CompleteAnswer) => void;

/** Settings of sent answers. */
export interface SendOptions {
  /**
   * True if answers are compressed in the coding that the client prefers, where that is worthwhile; otherwise they are
   * sent uncompressed.
   */
  readonly compression: boolean;
  /** The `Vary` header of all answers: one line with each request header that any answer depends on. */
  readonly vary: string;
}

/** Makes the function that sends answers. */
export function createSend({ compression, vary }: SendOptions): Send {
  return (request, response, answer) => {
    if (isKnown(request, answer)) return sendUnchanged(response, answer, vary);
    const coding = compression ? codingFor(request.headers['accept-encoding'], answer) : undefined;
    if (coding === undefined) sendPlain(response, answer, vary);
    else void inCoding(answer, coding).then((smaller) => sendPlain(response, smaller, vary));
  };
}

/** True if the client has the answer already (RFC 9110 §13.1.2). */
function isKnown(
  { headers: { 'if-none-match': known } }: IncomingMessage,
  { headers: { etag } }: CompleteAnswer,
): boolean {
  if (known === undefined || etag === undefined) return false;
  const withoutWeakness = (tag: string): string => tag.trim().replace(/^W\//, '');
  return known.trim() === '*' || known.split(',').map(withoutWeakness).includes(withoutWeakness(etag));
}

/** Sends the headers of an answer that its client has already (RFC 9110 §15.4.5). */
function sendUnchanged(response: ServerResponse, { headers }: CompleteAnswer, vary: string): void {
  if (response.destroyed || response.headersSent) return;
  const { 'content-type': _type, ...others } = headers;
  response.writeHead(304, { ...others, vary }).end();
}

/** The largest answer, in bytes, that fits into the buffers of the operating system. */
const mostInBuffers = 65_536;

/**
 * The largest answer, in bytes, that is written in one piece. The gateway does not learn how much of a piece the client
 * has taken, so a client that reads a larger piece slowly could look stuck. To send 8 MiB takes a third more CPU in
 * slices than in one piece.
 */
const mostInOneWrite = 2 ** 18;

function sendPlain(response: ServerResponse, { status, headers, body }: CompleteAnswer, vary: string): void {
  if (response.destroyed || response.headersSent) return;
  const length = Buffer.byteLength(body);
  headers['content-length'] = String(length);
  headers['vary'] = vary;
  response.writeHead(status, headers);
  // An equal number of bytes and characters means ASCII, which is copied instead of encoded.
  const encoding = length === body.length ? 'latin1' : 'utf8';
  if (length <= mostInBuffers) {
    response.end(body, encoding);
    // If the client has not read earlier answers, bytes still wait in the connection. This answer restarts the time for
    // which the client may take nothing.
    if (response.writableLength > 0) noteRead(response.req.socket);
    return;
  }
  watchReader(response);
  if (length <= mostInOneWrite) response.end(body, encoding);
  else if (typeof body !== 'string') sendSlices(response, body);
  else {
    // The text is encoded as a whole, because its bytes then wait for the client outside of V8's heap.
    const bytes = Buffer.from(body, encoding);
    // A response closes once the operating system has taken all slices, or once the connection is closed.
    response.on('close', () => freeLarge(bytes));
    sendSlices(response, bytes);
  }
}

/** Sends a large body. Each slice is handed to the connection once the client has read most of the earlier ones. */
function sendSlices(response: ServerResponse, bytes: Buffer): void {
  let start = 0;
  const sendMore = (): void => {
    while (start < bytes.length) {
      const slice = bytes.subarray(start, start + sliceLength);
      start += sliceLength;
      if (!response.write(slice)) return;
    }
    response.end();
  };
  response.on('drain', sendMore);
  sendMore();
}

/** Ends a request that cannot be answered: with status 500 or, if its answer has begun, by closing the connection. */
export function sendFault(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(500, answerHeaders).end();
}
