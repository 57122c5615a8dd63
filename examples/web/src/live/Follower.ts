import { connectionLost, GatewayError } from '../gateway/GatewayError.ts';
import { subscribe } from '../gateway/subscribe.ts';
import { type EventRowFragment, EventsAddedDocument, type EventsAddedSubscription } from '../generated/graphql.ts';

/** An event of following the events of a project. */
export type LiveEvent =
  // `isAnew`: nothing says where it left off, so events may have been captured since the list was read.
  | { readonly kind: 'open'; readonly isAnew: boolean }
  | { readonly kind: 'told'; readonly events: readonly EventRowFragment[]; readonly hasGap: boolean }
  // Another try follows.
  | { readonly kind: 'lost' }
  // None follows.
  | { readonly kind: 'ended'; readonly failure: GatewayError };

/** Codes of failures after which another try may do. */
const passing: ReadonlySet<string> = new Set([
  'AUTHENTICATION_UNAVAILABLE',
  'CONNECTION_LOST',
  'GATEWAY_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
  'OVERLOADED',
  'RATE_LIMITED',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
]);

/** Those of them that are no answers of the gateway. */
const unanswered: ReadonlySet<string> = new Set(['CONNECTION_LOST', 'GATEWAY_UNAVAILABLE']);

/**
 * Codes with which the gateway ends a connection whose token has expired or whose tenant has changed. The next request may be
 * taken all the same: it has the token of then.
 */
const renewable: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'FORBIDDEN']);

/** A connection that lasted so many milliseconds was a good one: the next try comes soon. */
const goodMs = 10_000;

/** The tries since the last good connection. */
interface Past {
  /** The number of tries that have failed in a row. */
  readonly tries: number;
  /** True if one of them was refused after it had opened. A second refusal is final. */
  readonly wasRefused: boolean;
}

const nothingYet: Past = { tries: 0, wasRefused: false };

/** The end of a connection. */
interface End {
  readonly failure: GatewayError;
  readonly hadOpened: boolean;
}

/** Follows the events of a project over as many connections as it takes, each going on where the one before was lost. */
export class Follower {
  readonly #projectId: string;
  readonly #onEvent: (event: LiveEvent) => void;
  /** Of the last message. */
  #cursor: string | undefined;
  #stop: AbortController | undefined;

  constructor(projectId: string, onEvent: (event: LiveEvent) => void) {
    this.#projectId = projectId;
    this.#onEvent = onEvent;
  }

  /** Begins, or goes on after a `stop`. */
  start(): void {
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    void this.#run(this.#stop.signal);
  }

  /** Closes the connection. */
  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #run(signal: AbortSignal, before = nothingYet): Promise<void> {
    const start = performance.now();
    const { failure, hadOpened } = await this.#connect(signal);
    if (signal.aborted) return;
    const { tries, wasRefused } = performance.now() - start > goodMs ? nothingYet : before;
    const isRefused = hadOpened && !wasRefused && renewable.has(failure.code);
    if (!isRefused && !passing.has(failure.code)) return this.#onEvent({ kind: 'ended', failure });
    this.#onEvent({ kind: 'lost' });
    await pause(Math.max(backOffMs(failure, tries), (failure.retryAfter ?? 0) * 1000), signal);
    if (!signal.aborted) void this.#run(signal, { tries: tries + 1, wasRefused: wasRefused || isRefused });
  }

  /** Listens until the connection has ended, and says why it did. */
  async #connect(signal: AbortSignal): Promise<End> {
    const variables = { projectId: this.#projectId, after: this.#cursor ?? null };
    let hadOpened = false;
    try {
      return await subscribe(EventsAddedDocument, variables, signal, (event) => {
        if (signal.aborted) return;
        if (event.kind === 'message') return this.#tell(event.data?.eventsAdded);
        hadOpened = true;
        this.#onEvent({ kind: 'open', isAnew: this.#cursor === undefined });
      });
    } catch (cause) {
      return { failure: cause instanceof GatewayError ? cause : connectionLost(cause), hadOpened };
    }
  }

  #tell(message: EventsAddedSubscription['eventsAdded'] | undefined): void {
    this.#cursor = message?.cursor ?? this.#cursor;
    this.#onEvent({ kind: 'told', events: message?.nodes ?? [], hasGap: message?.gap ?? true });
  }
}

/**
 * Twice as long for each try, up to half a minute; at random, so that pages do not come back all at once. A gateway that is
 * away has no work with tries, so these stay close to each other: readers see soon that it is back.
 */
function backOffMs({ code }: GatewayError, tries: number): number {
  const longestMs = unanswered.has(code) ? 3000 : 30_000;
  return Math.min(1000 * 2 ** tries, longestMs) * (0.5 + Math.random() / 2);
}

/** Ends early if the browser is online again. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (): void => {
      over.abort();
      resolve();
    };
    const timer = window.setTimeout(end, milliseconds);
    over.signal.addEventListener('abort', () => window.clearTimeout(timer));
    signal.addEventListener('abort', end, { signal: over.signal });
    window.addEventListener('online', end, { signal: over.signal });
  });
}
