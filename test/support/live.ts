import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { textAt } from './connections.ts';
import { key, startGateway } from './gateway.ts';
import type { JsonObject } from './replies.ts';
import type { Routes } from './routes.ts';
import { event, project } from './rows.ts';
import { keyset, momentOf } from './ties.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { openWith, postOf } from './wire.ts';

/** Settings of subscriptions with which tests need not wait: a budget that is never short, and polls in quick succession. */
export const quick = { pollMs: 20, backoffOf: () => 1, maxStreams: 1000, maxStreamsPerCaller: 1000 } as const;

/** The subscription that tests follow. */
export const follow = `subscription ($after: String, $filter: EventFilter) {
  eventsAdded(projectId: 1, after: $after, filter: $filter) { nodes { upstreamId timestamp } cursor gap }
}`;

/** Events of a project to which more can be added, and the endpoint that lists them by keyset, newest first. */
export class GrowingEvents {
  readonly #rows: JsonObject[] = [];
  #latest = 0;

  readonly list = keyset(this.#rows);

  /** Adds events of a moment, one after the other in the list. Returns their ids, oldest first. */
  add(count: number, timestamp: string, changes: JsonObject = {}): string[] {
    const added = Array.from({ length: count }, () => {
      this.#latest += 1;
      return event(this.#latest, { timestamp, ...changes });
    });
    const first = this.#rows.findIndex((row) => momentOf(row['timestamp']) <= momentOf(timestamp));
    this.#rows.splice(first === -1 ? this.#rows.length : first, 0, ...added.toReversed());
    return added.map((_row, index) => textAt(added, index, 'id'));
  }
}

/** Starts a REST API with a project that has three events, and to which more can be added. */
export async function startEvents(routes: Routes = {}): Promise<Upstream & { readonly events: GrowingEvents }> {
  const events = new GrowingEvents();
  events.add(3, '2024-05-01T10:00:00Z');
  const own = { 'GET /api/projects/:id/': project(1), 'GET /api/projects/1/events/': events.list };
  return Object.assign(await startUpstream({ ...own, ...routes }, { hold: 1 }), { events });
}

/** Starts such an upstream, and a gateway that follows it, for one test: both stop when it has ended. */
export async function startLive(options: Partial<GatewayOptions> = {}, routes: Routes = {}) {
  const upstream = await startEvents(routes);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const gateway = await startGateway(upstream, { live: quick, ...options });
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return { upstream, events: upstream.events, gateway };
}

/** Waits until the events that were there are known, so that what is added from now on is new. */
export async function begun({ requests }: Upstream, polls = 1): Promise<void> {
  const before = requests.length;
  await expect.poll(() => requests.length).toBeGreaterThanOrEqual(before + polls + 1);
}

/** One message of a subscription as a client sees it. */
export interface Heard {
  readonly data?: {
    readonly eventsAdded: {
      readonly nodes: readonly { readonly upstreamId: string }[];
      readonly cursor: string;
      readonly gap: boolean;
    };
  };
  readonly errors?: readonly { readonly message: string; readonly extensions: Readonly<Record<string, unknown>> }[];
}

/** A subscription over server-sent events. */
export interface Subscribed extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The messages so far. */
  readonly messages: readonly Heard[];
  /** The way it ended; undefined while it goes on. */
  readonly ended: 'complete' | 'cut' | undefined;
  /** Resolves once it holds; fails after half a minute. */
  until(holds: () => boolean): Promise<void>;
  ids(): string[];
  /** The cursor of the last message. */
  cursor(): string | undefined;
  leave(): void;
}

/** The request of a test's subscription. */
export interface SubscribeOptions {
  readonly query?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Subscribes as a client of server-sent events does, in distinct connections mode. */
export async function subscribe(url: string, options: SubscribeOptions = {}): Promise<Subscribed> {
  const { query = follow, variables, headers, extensions } = options;
  const controller = new AbortController();
  const usual = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` };
  const {
    status,
    headers: received,
    body,
  } = await fetch(url, {
    method: 'POST',
    headers: { ...usual, ...headers },
    body: JSON.stringify({ query, variables, extensions }),
    signal: controller.signal,
  });
  const events = new ReceivedEvents();
  const reading = events.read(body);
  const nodes = () => events.messages.flatMap(({ data }) => data?.eventsAdded.nodes ?? []);
  return {
    status,
    headers: received,
    messages: events.messages,
    get ended() {
      return events.ended;
    },
    until: (holds) => events.until(holds),
    ids: () => nodes().map(({ upstreamId }) => upstreamId),
    cursor: () => events.messages.at(-1)?.data?.eventsAdded.cursor,
    leave: () => controller.abort(),
    async [Symbol.asyncDispose]() {
      controller.abort();
      await reading;
    },
  };
}

class ReceivedEvents {
  readonly messages: Heard[] = [];
  ended: Subscribed['ended'];
  readonly #heard = new EventEmitter();
  #text = '';

  async read(body: AsyncIterable<Uint8Array> | null): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body ?? []) this.#take(decoder.decode(chunk, { stream: true }));
    } catch {
      // It was cut, or left.
    }
    this.ended ??= 'cut';
    this.#heard.emit('more');
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const shown = (): string => JSON.stringify(this.messages).slice(0, 2000);
      const late = setTimeout(() => reject(new Error(`only this has come: ${shown()}`)), 30_000);
      const look = (): void => {
        if (!holds()) return;
        clearTimeout(late);
        this.#heard.off('more', look);
        resolve();
      };
      this.#heard.on('more', look);
      look();
    });
  }

  #take(chunk: string): void {
    const events = (this.#text + chunk).split('\n\n');
    this.#text = events.pop() ?? '';
    for (const text of events) {
      const [kind, data = ''] = text.split('\n');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it really is, the tests find out
      if (kind === 'event: next') this.messages.push(JSON.parse(data.slice('data: '.length)) as Heard);
      if (kind === 'event: complete') this.ended = 'complete';
    }
    this.#heard.emit('more');
  }
}

/** Subscribes, with all that events hold, and reads no further than the headers. */
export async function stall(url: string): Promise<Socket> {
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { id properties } } }';
  const socket = openWith(url, postOf(query, 'accept: text/event-stream\r\n'));
  await once(socket, 'data');
  return socket.pause();
}
