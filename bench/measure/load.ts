/**
 * The load, a process of its own: asks a gateway over a fixed number of connections, each as soon as its last answer is
 * complete, for a fixed time. It reads as little of the answers as it can: their length, and whether they hold errors.
 */
import { connect, type Socket } from 'node:net';

/** The job of the process that makes the load. */
export interface LoadJob {
  readonly port: number;
  readonly concurrency: number;
  readonly seconds: number;
  /** The most operations. */
  readonly operations: number;
  /** Requests as bytes, asked in turn. */
  readonly requests: readonly Uint8Array[];
}

/** The result of a job. */
export interface LoadResult {
  readonly operations: number;
  readonly seconds: number;
  /** Milliseconds of half of the operations, and of all but one in a hundred, at most. */
  readonly p50: number;
  readonly p99: number;
  /** The first answer that was not 200 or held errors, if any. */
  readonly failure: string | undefined;
}

/** The progress of the answer that a connection waits for. */
interface Pending {
  startedAt: number;
  head: string;
  /** Bytes that are still to come; undefined until the head is read, and if the body is chunked. */
  left: number | undefined;
  /** The end of a chunked body so far; undefined until the head is read, and if that gives the length. */
  tail: string | undefined;
}

const endOfHead = '\r\n\r\n';

/** The last chunk of a chunked body is empty. */
const endOfChunks = '\r\n0\r\n\r\n';

process.on('message', (job: LoadJob) => {
  const failed = (error: unknown): LoadResult => ({
    operations: 0,
    seconds: 0,
    p50: 0,
    p99: 0,
    failure: String(error),
  });
  void run(job)
    .catch(failed)
    .then((result) => process.send?.(result));
});

/** The longest time that an answer may take, in milliseconds. */
const timeoutMs = 20_000;

async function run({ port, concurrency, seconds, operations: most, requests }: LoadJob): Promise<LoadResult> {
  const times: number[] = [];
  let failure: string | undefined;
  let next = 0;
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;

  const client = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const pending: Pending = { startedAt: 0, head: '', left: undefined, tail: undefined };
    const ask = (): void => {
      pending.left = pending.tail = undefined;
      pending.head = '';
      pending.startedAt = performance.now();
      socket.write(requests[next++ % requests.length] ?? '');
    };
    socket.on('connect', ask).on('error', reject);
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer for ${timeoutMs} ms`)));
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('"errors":')) failure ??= chunk.toString('latin1').slice(0, 500);
      if (!isComplete(pending, chunk)) return;
      if (!pending.head.startsWith('HTTP/1.1 200')) failure ??= pending.head;
      const now = performance.now();
      times.push(now - pending.startedAt);
      if (now < deadline && next < most) ask();
      else finish(socket, resolve);
    });
    return promise;
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  const elapsed = (performance.now() - startedAt) / 1000;
  const sorted = Float64Array.from(times).toSorted();
  const quantile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { operations: times.length, seconds: elapsed, p50: quantile(0.5), p99: quantile(0.99), failure };
}

/** Takes one chunk of an answer; answers whether it was the last. */
function isComplete(pending: Pending, chunk: Buffer): boolean {
  if (pending.left !== undefined) {
    pending.left -= chunk.length;
    return pending.left <= 0;
  }
  if (pending.tail === undefined) {
    const text = pending.head + chunk.toString('latin1');
    const end = text.indexOf(endOfHead);
    pending.head = end < 0 ? text : text.slice(0, end);
    if (end < 0) return false;
    const length = /\r\ncontent-length: (\d+)/i.exec(pending.head)?.[1];
    if (length !== undefined) {
      pending.left = Number(length) + end + endOfHead.length - text.length;
      return pending.left <= 0;
    }
    pending.tail = text.slice(end);
  } else pending.tail += chunk.subarray(-endOfChunks.length).toString('latin1');
  pending.tail = pending.tail.slice(-endOfChunks.length);
  return pending.tail === endOfChunks;
}

function finish(socket: Socket, resolve: () => void): void {
  socket.removeAllListeners('error').on('error', () => undefined);
  socket.end(resolve);
}
