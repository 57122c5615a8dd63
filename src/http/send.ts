import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Complete, compressed } from './compression.ts';

/** Sends a complete answer, and adds to its headers what describes the body. Does nothing once the client has left. */
export type Send = (request: IncomingMessage, response: ServerResponse, answer: Complete) => void;

/** With `compression` answers go in the coding that the client likes most, where that is worth it; else as they are. */
export function createSend(compression: boolean): Send {
  if (!compression) return (_request, response, answer) => sendPlain(response, answer);
  return (request, response, answer) => {
    const smaller = compressed(request, response, answer);
    if (smaller === undefined) sendPlain(response, answer);
    else void smaller.then((complete) => sendPlain(response, complete));
  };
}

/** Answers up to this size fit into the buffers of the system, in bytes. */
const soonSent = 65_536;

/** A client that takes nothing of its answer for so long is taken for gone, in milliseconds; it is noticed the second time. */
const longestPauseMs = 7500;

function sendPlain(response: ServerResponse, { status, headers, body }: Complete): void {
  if (response.destroyed || response.headersSent) return;
  const length = Buffer.byteLength(body);
  headers['content-length'] = String(length);
  if (length > soonSent) response.setTimeout(longestPauseMs, () => response.destroy());
  response.writeHead(status, headers);
  // As many bytes as characters: it is ASCII, which is copied instead of encoded.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}
