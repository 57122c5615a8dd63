import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

type ClientError = Error & { readonly code?: string };

/**
 * Answers what is not HTTP, too large or too slow: a bare answer, and the connection is closed. The answer of a whole
 * request that came before it goes first: a client would take a bare one for it, and a change that was made for refused.
 */
export function createRefuseMalformed(connections: Connections): (error: ClientError, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    // Whatever follows what is malformed is an error again.
    if (!refused.has(socket)) refuseInTurn(error, socket, connections.latestOf(socket));
    refused.add(socket);
  };
}

function refuseInTurn(error: ClientError, socket: Socket, latest: ServerResponse | undefined): void {
  if (latest === undefined || latest.writableFinished) refuse(error, socket);
  else if (latest.req.complete) latest.once('finish', () => refuse(error, socket));
  else if (latest.headersSent) socket.destroy();
  else refuse(error, socket);
}

function refuse({ code }: ClientError, socket: Socket): void {
  // An answer that closes the connection has ended it, and may be on its way still.
  if (!socket.writable) return;
  const slow = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const large = code === 'HPE_HEADER_OVERFLOW';
  const status = slow ? '408 Request Timeout' : large ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
