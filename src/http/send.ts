import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Complete, compressed } from './compression.ts';
import { closeIfUnread } from './unread.ts';

/** Sends a complete answer, and adds to its headers what describes the body. Does nothing once the client has left. */
export type Send = (request: IncomingMessage, response: ServerResponse, answer: Complete) => void;

/** How answers are sent. */
export interface SendOptions {
  /** True if they go in the coding that the client likes most, if that is worth it; else they go as they are. */
  readonly compression: boolean;
  /** Their `Vary` header: all request headers that any of them depends on, in one line. */
  readonly vary: string;
}

/** Makes the function that sends answers. */
export function createSend({ compression, vary }: SendOptions): Send {
  const plain = (response: ServerResponse, answer: Complete): void => sendPlain(response, answer, vary);
  if (!compression) return (_request, response, answer) => plain(response, answer);
  return (request, response, answer) => {
    const smaller = compressed(request, answer);
    if (smaller === undefined) plain(response, answer);
    else void smaller.then((complete) => plain(response, complete));
  };
}

/** Answers up to this size fit into the buffers of the system, in bytes. */
const soonSent = 65_536;

function sendPlain(response: ServerResponse, { status, headers, body }: Complete, vary: string): void {
  if (response.destroyed || response.headersSent) return;
  const length = Buffer.byteLength(body);
  headers['content-length'] = String(length);
  headers['vary'] = vary;
  if (length > soonSent) closeIfUnread(response);
  response.writeHead(status, headers);
  // As many bytes as characters: it is ASCII, which is copied instead of encoded.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}
