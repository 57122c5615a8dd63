import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import type { Connections } from './connections.ts';

type ClientError = Error & { readonly code?: string };

/**
 * Makes the handler of input that is not HTTP, too large or too slow: it sends a bare answer and closes the connection.
 * The answer to an earlier complete request on the connection is sent first. Otherwise the client would take the bare
 * answer for it, and believe that a change was refused although it was made.
 */
export function createRefuseMalformed(
  connections: Connections,
  refused: CountRefused,
): (error: ClientError, socket: Socket) => void {
  const done = new WeakSet<Socket>();
  return (error, socket) => {
    // Input after malformed input is reported as an error again.
    if (done.has(socket)) return;
    done.add(socket);
    // Node reports clients that have left, and connections that were closed here, in the same way.
    const isGone = socket.destroyed || error.code === 'ECONNRESET' || error.code === 'EPIPE';
    if (!isGone) refused(reasonOf(error));
    refuseInTurn(error, socket, connections.latestOf(socket));
  };
}

function refuseInTurn(error: ClientError, socket: Socket, latest: ServerResponse | undefined): void {
  if (latest === undefined || latest.writableFinished) refuse(error, socket);
  else if (latest.req.complete) latest.once('finish', () => refuse(error, socket));
  else if (latest.headersSent) socket.destroy();
  else refuse(error, socket);
}

const answers = {
  slowRequest: '408 Request Timeout',
  largeHead: '431 Request Header Fields Too Large',
  malformed: '400 Bad Request',
} as const;

function reasonOf({ code }: ClientError): keyof typeof answers {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'slowRequest';
  return code === 'HPE_HEADER_OVERFLOW' ? 'largeHead' : 'malformed';
}

function refuse(error: ClientError, socket: Socket): void {
  // An answer that closes the connection has already ended it, but may still be on its way.
  if (!socket.writable) return;
  socket.end(`HTTP/1.1 ${answers[reasonOf(error)]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
