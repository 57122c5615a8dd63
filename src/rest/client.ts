import type { CallSpans, TraceContext } from './call-spans.ts';
import { csvOf, jsonOf, writtenJson } from './decoded-response.ts';
import { isUnauthenticated, noRoomForBodies, UpstreamError } from './errors.ts';
import { type OnEnd, type OperationCalls, statusOf } from './operation-calls.ts';
import { isOverdue, type Lifetime } from './operation-deadline.ts';
import { Attempts } from './resilience/attempts.ts';
import type { Patience } from './resilience/concurrency-limiter.ts';
import type { Job, Line } from './resilience/job.ts';
import type { RejectedKeys } from './resilience/rejected-keys.ts';
import type { Flight, Flights } from './single-flight.ts';
import type { Tenant } from './tenants.ts';
import type { BodyRoom } from './transport/body-room.ts';
import { type Reply, toDomainError } from './transport/exchange.ts';
import type { Call } from './transport/transport.ts';

/** Who asks: the personal API key, and what stands for it wherever something is shared or counted. */
export interface Caller {
  readonly key: string;
  /** SHA-256 of the full Authorization value with that key. */
  readonly hash: string;
  /** For whom the gateway holds the key; undefined where the caller has sent it. */
  readonly tenant?: Tenant;
  /** SHA-256 of the tenant's user; undefined without a tenant. */
  readonly subject?: string;
}

/** What REST calls have to know of the operation that makes them. */
export interface OperationFacts {
  readonly lifetime: Lifetime;
  readonly calls: OperationCalls;
  readonly trace?: TraceContext;
  /** Where somebody traces. */
  readonly spans?: CallSpans | undefined;
}

/** The methods of calls that have an effect. */
export type WriteMethod = 'POST' | 'PATCH' | 'DELETE' | 'GET';

/** REST calls in the name of one caller, within one operation's lifetime. All fail with an UpstreamError. */
export interface RestClient {
  /** The JSON that a GET answers. `target` is the path with its query. Equal reads in flight are one call. */
  readonly getJson: (target: string) => Promise<unknown>;
  /** The text that a GET answers as `text/csv`. */
  readonly getCsv: (target: string) => Promise<string>;
  /** The JSON that a write answers, undefined where it answers none. Sent exactly once, a GET that has an effect too. */
  readonly write: (method: WriteMethod, target: string, body?: unknown) => Promise<unknown>;
}

/** What the clients of all operations share. */
export interface Shared {
  readonly line: Line;
  readonly bodies: BodyRoom;
  readonly prefix: string;
  readonly json: Flights<unknown>;
  readonly csv: Flights<string>;
  readonly rejected: RejectedKeys;
}

const json = 'application/json';

/** One operation's calls in the name of its caller. */
export class CallerClient implements RestClient {
  readonly #shared: Shared;
  readonly #caller: Caller;
  readonly #operation: OperationFacts;
  #jsonHeaders: Record<string, string> | undefined;
  /** Whether a call of the operation has succeeded: then a 401 is about what was asked for, and not about the key. */
  #isProven = false;

  constructor(shared: Shared, caller: Caller, operation: OperationFacts) {
    this.#shared = shared;
    this.#caller = caller;
    this.#operation = operation;
  }

  getJson(target: string): Promise<unknown> {
    return this.#read(this.#shared.json, target, json, jsonOf);
  }

  getCsv(target: string): Promise<string> {
    return this.#read(this.#shared.csv, target, 'text/csv', csvOf);
  }

  write(method: WriteMethod, target: string, body?: unknown): Promise<unknown> {
    const { lifetime, calls } = this.#operation;
    if (lifetime.ended !== undefined) return Promise.reject(lifetime.ended);
    if (!calls.grant()) return Promise.reject(new UpstreamError('COST_LIMIT_EXCEEDED'));
    const headers = this.#headers(json);
    if (body !== undefined) headers['content-type'] = 'application/json';
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    // A connection that was kept open may be closed by the upstream just now, and the write be lost with it.
    const call: Call = { method, target: this.#shared.prefix + target, headers, ...content, fresh: true };
    const job = this.#jobOf(call, target, { lastsUntil: lifetime.endsAt }, true);
    return write(this.#shared, job, lifetime, (error) => this.#heed(error));
  }

  #read<T>(flights: Flights<T>, target: string, accept: string, decode: (reply: Reply) => T): Promise<T> {
    const { hash } = this.#caller;
    const { lifetime, calls, spans } = this.#operation;
    if (lifetime.ended !== undefined) return Promise.reject(lifetime.ended);
    const boarding = flights.boarding(hash, target);
    if (boarding !== undefined) {
      const answer = flights.join(boarding, lifetime);
      hear(answer, calls.share(target));
      if (spans !== undefined && boarding.trace !== undefined) spans.share(boarding.trace);
      return answer;
    }
    if (!calls.grant()) return Promise.reject(new UpstreamError('COST_LIMIT_EXCEEDED'));
    return flights.start(hash, target, lifetime, (flight) => {
      const call: Call = { method: 'GET', target: this.#shared.prefix + target, headers: this.#readHeaders(accept) };
      const attempts = new Attempts(this.#shared.line, this.#jobOf(call, target, flight, false));
      attempts.read({
        succeed: (reply) => {
          this.#heed(undefined);
          land(flight, reply, decode, this.#shared.bodies);
        },
        fail: (error) => {
          const failure = toDomainError(error);
          this.#heed(failure);
          flight.crash(failure);
        },
      });
      return attempts;
    });
  }

  /** Takes note of what an answer says about the key; undefined: it succeeded. */
  #heed(failure: unknown): void {
    const { rejected } = this.#shared;
    if (failure === undefined) {
      this.#isProven = true;
      rejected.accept(this.#caller.hash);
    } else if (isUnauthenticated(failure) && !this.#isProven) rejected.reject(this.#caller.hash, failure);
  }

  /** The same for all calls but those of tables, and made once. */
  #readHeaders(accept: string): Record<string, string> {
    if (accept !== json) return this.#headers(accept);
    this.#jsonHeaders ??= this.#headers(accept);
    return this.#jsonHeaders;
  }

  #headers(accept: string): Record<string, string> {
    return {
      ...this.#operation.trace,
      authorization: `Bearer ${this.#caller.key}`,
      'accept-encoding': 'gzip, deflate, br',
      accept,
    };
  }

  #jobOf(call: Call, target: string, patience: Patience, isWrite: boolean): Job {
    const { key, hash } = this.#caller;
    const { calls, spans } = this.#operation;
    return { call, target, patience, isWrite, key, callerHash: hash, calls, spans };
  }
}

function land<T>(flight: Flight<T>, reply: Reply, decode: (reply: Reply) => T, bodies: BodyRoom): void {
  const body = bodies.keep(reply.text);
  if (body === undefined) return flight.crash(noRoomForBodies);
  try {
    if (flight.keep(body, bodies.limits.operation)) flight.land(decode(reply), reply.text.length);
  } catch (error) {
    flight.crash(error);
  } finally {
    body.letGo();
  }
}

function hear(answer: Promise<unknown>, ended: OnEnd): void {
  answer.then(
    () => ended(200),
    (error: unknown) => ended(statusOf(error)),
  );
}

/** Reads that began before a write, or during it, are shared with none that comes after it. */
async function write(shared: Shared, job: Job, lifetime: Lifetime, heed: (failure: unknown) => void): Promise<unknown> {
  const ground = (): void => {
    shared.json.ground(job.callerHash);
    shared.csv.ground(job.callerHash);
  };
  ground();
  const attempts = new Attempts(shared.line, job);
  const end = Promise.withResolvers<never>();
  const listener = {
    settled: false,
    ended: (error: UpstreamError) => {
      end.reject(error);
      if (isOverdue(error)) attempts.overdue();
      attempts.cancel();
    },
  };
  lifetime.onEnd(listener);
  try {
    const reply = await Promise.race([attempts.write(), end.promise]);
    heed(undefined);
    lifetime.received += reply.text.length;
    const body = shared.bodies.keepWritten(reply.text);
    lifetime.keep(body, Number.POSITIVE_INFINITY);
    body.letGo();
    return writtenJson(job.call, reply);
  } catch (error) {
    const failure = toDomainError(error);
    heed(failure);
    listener.settled = true;
    if (isUnauthenticated(failure)) lifetime.fail(failure);
    throw failure;
  } finally {
    listener.settled = true;
    ground();
  }
}
