/**
 * The upstream's listener: HTTP/1.1 over bare sockets, GET only, each target rendered once. It spends a few
 * microseconds on a call, so that the gateways are what a benchmark measures.
 */
import { createServer, type Socket } from 'node:net';
import { listen } from '../../test/support/listen.ts';
import { answerOf } from './answers.ts';

/** A running upstream. */
export interface BenchUpstream extends AsyncDisposable {
  readonly url: string;
  /** The targets of the calls since `reset()`, in order of arrival; the first 10,000. */
  readonly targets: readonly string[];
  /** Calls since `reset()`. */
  readonly calls: number;
  /** Calls since `reset()` that did not carry the caller's key. */
  readonly withoutKey: number;
  reset(): void;
  /** Holds answers back from now on, for so many milliseconds. */
  setLatency(milliseconds: number): void;
}

/** The key that every operation of the benchmark is asked with. */
export const key = 'phx_benchmark';

const endOfHead = '\r\n\r\n';
const authorization = new RegExp(`\r\nauthorization: Bearer ${key}\r\n`, 'i');

/** Starts an upstream on loopback. */
export async function startBenchUpstream(): Promise<BenchUpstream> {
  const rendered = new Map<string, Buffer>();
  const sockets = new Set<Socket>();
  let targets: string[] = [];
  let calls = 0;
  let withoutKey = 0;
  let latencyMs = 0;

  const receive = (socket: Socket, head: string): void => {
    const target = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', 5));
    calls += 1;
    if (targets.length < 10_000) targets.push(target);
    if (!authorization.test(head)) withoutKey += 1;
    let answer = rendered.get(target);
    if (answer === undefined) rendered.set(target, (answer = render(target)));
    const bytes = answer;
    if (latencyMs === 0) socket.write(bytes);
    else setTimeout(() => socket.write(bytes), latencyMs);
  };

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    readHeads(socket, receive);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get targets() {
      return targets;
    },
    get calls() {
      return calls;
    },
    get withoutKey() {
      return withoutKey;
    },
    reset: () => {
      targets = [];
      calls = withoutKey = 0;
    },
    setLatency: (milliseconds) => {
      latencyMs = milliseconds;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Hands on the head of each request, which has no body; its last line keeps its end. */
function readHeads(socket: Socket, receive: (socket: Socket, head: string) => void): void {
  let rest = '';
  // A gateway that is killed resets its connections.
  socket.on('error', () => socket.destroy());
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf(endOfHead); end >= 0; end = rest.indexOf(endOfHead)) {
      receive(socket, rest.slice(0, end + 2));
      rest = rest.slice(end + endOfHead.length);
    }
  });
}

function render(target: string): Buffer {
  const { status, body } = answerOf(target);
  const reason = status === 200 ? 'OK' : 'Not Found';
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nVary: Accept\r\nContent-Length: ${length}\r\n\r\n${body}`,
  );
}
