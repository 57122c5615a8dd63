import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { key } from './gateway.ts';
import { listen } from './listen.ts';

/** A connection on which these bytes have been sent. Its errors are no failure of the test. */
export function openWith(url: string, bytes: string | Buffer): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(bytes);
  return socket;
}

/** An operation as it goes over the wire, with the key of the tests. `headers` are lines beside the usual ones. */
export function postOf(query: string, headers = ''): string {
  const body = JSON.stringify({ query });
  const lines = `host: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${headers}`;
  return `POST /graphql HTTP/1.1\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`;
}

/** The answer of a server to any bytes, until it closes the connection or has been silent for a while. */
export async function sendBytes(url: string, bytes: string | Buffer, silentMs = 500): Promise<string> {
  const socket = openWith(url, bytes).setEncoding('latin1');
  let answer = '';
  socket.on('data', (chunk: string) => void (answer += chunk));
  socket.setTimeout(silentMs, () => socket.destroy());
  await once(socket, 'close');
  return answer;
}

/** An upstream that writes bytes, which need not be HTTP. */
export interface WireUpstream extends AsyncDisposable {
  readonly url: string;
  /** The heads of the requests that it was sent. */
  readonly requests: readonly string[];
}

/** Starts an upstream that answers each request with what `respond` writes. It takes no bodies. */
export async function startWire(respond: (socket: Socket, requests: number) => void): Promise<WireUpstream> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        requests.push(text.slice(0, end));
        text = text.slice(end + 4);
        respond(socket, requests.length);
      }
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
