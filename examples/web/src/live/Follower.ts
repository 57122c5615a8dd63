import { connectionLost, GatewayError } from '../gateway/GatewayError.ts';
import { subscribe } from '../gateway/subscribe.ts';
import { type EventRowFragment, EventsAddedDocument, type EventsAddedSubscription } from '../generated/graphql.ts';

/** What becomes of following the events of a project. */
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

/** A connection that lasted so many milliseconds was a good one: the next try comes soon. */
const goodMs = 10_000;

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

  /** `tries` is how many have failed in a row. */
  async #run(signal: AbortSignal, tries = 0): Promise<void> {
    const start = performance.now();
    const failure = await this.#connect(signal);
    if (signal.aborted) return;
    if (!passing.has(failure.code)) return this.#onEvent({ kind: 'ended', failure });
    this.#onEvent({ kind: 'lost' });
    const failed = performance.now() - start > goodMs ? 0 : tries;
    await pause(Math.max(backOffMs(failed), (failure.retryAfter ?? 0) * 1000), signal);
    if (!signal.aborted) void this.#run(signal, failed + 1);
  }

  /** Listens until the connection has ended, and says why it did. */
  async #connect(signal: AbortSignal): Promise<GatewayError> {
    const variables = { projectId: this.#projectId, after: this.#cursor ?? null };
    try {
      return await subscribe(EventsAddedDocument, variables, signal, (event) => {
        if (signal.aborted) return;
        if (event.kind === 'open') this.#onEvent({ kind: 'open', isAnew: this.#cursor === undefined });
        else this.#tell(event.data?.eventsAdded);
      });
    } catch (cause) {
      return cause instanceof GatewayError ? cause : connectionLost(cause);
    }
  }

  #tell(message: EventsAddedSubscription['eventsAdded'] | undefined): void {
    this.#cursor = message?.cursor ?? this.#cursor;
    this.#onEvent({ kind: 'told', events: message?.nodes ?? [], hasGap: message?.gap ?? true });
  }
}

/** Twice as long for each try, up to half a minute; at random, so that pages do not come back all at once. */
function backOffMs(tries: number): number {
  return Math.min(1000 * 2 ** tries, 30_000) * (0.5 + Math.random() / 2);
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
