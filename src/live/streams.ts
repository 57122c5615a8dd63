import type { Caller } from '../rest/caller.ts';

/** The maximum number of streams of a process. */
export interface StreamLimits {
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
}

/** A stream that is open. */
export interface OpenStream {
  readonly caller: Caller;
  /** Called when a reload has changed the rights of its caller. */
  readonly onOutdated: () => void;
  readonly disconnect: () => void;
}

type Opening =
  | 'open'
  // The caller of the stream has as many streams as a caller may have.
  | 'too many of its caller'
  // The process has as many streams as it may have, or opens no more, or unproven keys have half of the places.
  | 'too many';

/** The open streams of one process: the answers to its subscriptions. */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #isProven: (caller: Caller) => boolean;
  readonly #open = new Set<OpenStream>();
  readonly #byCaller = new Map<string, number>();
  /** True for a caller whose rights have changed. */
  #isOutdated: (caller: Caller) => boolean = () => false;
  #isClosed = false;
  messages = 0;

  /** `isProven` is true for a caller whose key the upstream is known to accept. */
  constructor(limits: StreamLimits, isProven: (caller: Caller) => boolean) {
    this.#limits = limits;
    this.#isProven = isProven;
  }

  get size(): number {
    return this.#open.size;
  }

  open(stream: OpenStream): Opening {
    const { maxStreams, maxStreamsPerCaller } = this.#limits;
    const name = nameOf(stream.caller);
    const own = this.#byCaller.get(name) ?? 0;
    if (this.#isClosed || this.#open.size >= maxStreams) return 'too many';
    if (own >= maxStreamsPerCaller) return 'too many of its caller';
    if (!this.#isProven(stream.caller) && this.#isFullOfUnproven()) return 'too many';
    this.#open.add(stream);
    this.#byCaller.set(name, own + 1);
    // The rights of the caller may have changed since it was authenticated.
    if (this.#isOutdated(stream.caller)) stream.onOutdated();
    return 'open';
  }

  close(stream: OpenStream): void {
    if (!this.#open.delete(stream)) return;
    const name = nameOf(stream.caller);
    const own = (this.#byCaller.get(name) ?? 0) - 1;
    if (own > 0) this.#byCaller.set(name, own);
    else this.#byCaller.delete(name);
  }

  /**
   * True if unproven keys have half of the places. While the upstream is down, invented keys could take all of them.
   */
  #isFullOfUnproven(): boolean {
    const most = this.#limits.maxStreams / 2;
    if (this.#open.size < most) return false;
    return [...this.#open].filter(({ caller }) => !this.#isProven(caller)).length >= most;
  }

  /** Notifies the open streams whose callers are outdated, and from now on each such stream as it opens. */
  notifyOutdated(isOutdated: (caller: Caller) => boolean): void {
    this.#isOutdated = isOutdated;
    for (const stream of this.#open) if (isOutdated(stream.caller)) stream.onOutdated();
  }

  /** Disconnects the clients of all streams and opens no new ones, so that clients reconnect to another process. */
  disconnectAll(): void {
    this.#isClosed = true;
    for (const { disconnect } of this.#open) disconnect();
  }
}

/** The owner of a stream: a key, or a user. */
function nameOf({ queueKey, subject = '' }: Caller): string {
  return `${queueKey}\n${subject}`;
}
