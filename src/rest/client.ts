import type { CallSpans, TraceContext } from './call-spans.ts';
import { csvOf, jsonOf, writtenJson } from './decoded-response.ts';
import { isUnauthenticated, noRoomForBodies, UpstreamError } from './errors.ts';
import { type OnEnd, type OperationCalls, statusOf } from './operation-calls.ts';
import { isOverdue, type OperationDeadline } from './operation-deadline.ts';
import { Attempts } from './resilience/attempts.ts';
import type { Deadline } from './resilience/concurrency-limiter.ts';
import type { Job, Line } from './resilience/job.ts';
import type { RejectedKeys } from './resilience/rejected-keys.ts';
import { SharedRead } from './shared-read.ts';
import type { SingleFlight } from './single-flight.ts';
import type { Tenant } from './tenants.ts';
import type { BodyRoom } from './transport/body-room.ts';
import { type DecodedResponse, toDomainError } from './transport/send.ts';
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
export interface CallingOperation {
  readonly deadline: OperationDeadline;
  readonly calls: OperationCalls;
  readonly trace?: TraceContext;
  /** Where somebody traces. */
  readonly spans?: CallSpans | undefined;
}

/** The methods of calls that have an effect. */
export type WriteMethod = 'POST' | 'PATCH' | 'DELETE' | 'GET';

/** REST calls in the name of one caller, within one operation's deadline. All fail with an UpstreamError. */
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
  readonly json: SingleFlight<SharedRead<unknown>>;
  readonly csv: SingleFlight<SharedRead<string>>;
  readonly rejected: RejectedKeys;
}

const json = 'application/json';

/** One operation's calls in the name of its caller. */
export class CallerClient implements RestClient {
  readonly #shared: Shared;
  readonly #caller: Caller;
  readonly #operation: CallingOperation;
  #jsonHeaders: Record<string, string> | undefined;
  /** Whether a call of the operation has succeeded: then a 401 is about what was asked for, and not about the key. */
  #isProven = false;

  constructor(shared: Shared, caller: Caller, operation: CallingOperation) {
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
    const { deadline, calls } = this.#operation;
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    if (!calls.reserve()) return Promise.reject(new UpstreamError('COST_LIMIT_EXCEEDED'));
    const headers = this.#headers(json);
    if (body !== undefined) headers['content-type'] = 'application/json';
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    // A connection that was kept open may be closed by the upstream just now, and the write be lost with it.
    const call: Call = { method, target: this.#shared.prefix + target, headers, ...content, fresh: true };
    const job = this.#jobOf(call, target, { endsAt: deadline.endsAt }, true);
    return write(this.#shared, job, deadline, (error) => this.#noteKeyStatus(error));
  }

  #read<T>(
    reads: SingleFlight<SharedRead<T>>,
    target: string,
    accept: string,
    decode: (response: DecodedResponse) => T,
  ): Promise<T> {
    const { hash } = this.#caller;
    const { deadline, calls, spans } = this.#operation;
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const running = reads.find(hash, target);
    if (running !== undefined) {
      const answer = running.join(deadline);
      reportEnd(answer, calls.share(target));
      if (spans !== undefined && running.trace !== undefined) spans.share(running.trace);
      return answer;
    }
    if (!calls.reserve()) return Promise.reject(new UpstreamError('COST_LIMIT_EXCEEDED'));
    const read = new SharedRead<T>();
    reads.add(hash, target, read);
    const answer = read.join(deadline);
    read.start(() => {
      const call: Call = { method: 'GET', target: this.#shared.prefix + target, headers: this.#readHeaders(accept) };
      const attempts = new Attempts(this.#shared.line, this.#jobOf(call, target, read, false));
      attempts.read({
        succeed: (response) => {
          this.#noteKeyStatus(undefined);
          settle(read, response, decode, this.#shared.bodies);
        },
        fail: (error) => {
          const failure = toDomainError(error);
          this.#noteKeyStatus(failure);
          read.reject(failure);
        },
      });
      return attempts;
    });
    return answer;
  }

  /** Takes note of what an answer says about the key; undefined: it succeeded. */
  #noteKeyStatus(failure: unknown): void {
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

  #jobOf(call: Call, target: string, deadline: Deadline, isWrite: boolean): Job {
    const { key, hash } = this.#caller;
    const { calls, spans } = this.#operation;
    return { call, target, deadline, isWrite, key, callerHash: hash, calls, spans };
  }
}

function settle<T>(
  read: SharedRead<T>,
  response: DecodedResponse,
  decode: (response: DecodedResponse) => T,
  bodies: BodyRoom,
): void {
  const body = bodies.keep(response.text);
  if (body === undefined) return read.reject(noRoomForBodies);
  try {
    if (read.keep(body, bodies.limits.operation)) read.resolve(decode(response), response.text.length);
  } catch (error) {
    read.reject(error);
  } finally {
    body.letGo();
  }
}

function reportEnd(answer: Promise<unknown>, ended: OnEnd): void {
  answer.then(
    () => ended(200),
    (error: unknown) => ended(statusOf(error)),
  );
}

/** Reads that began before a write, or during it, are shared with none that comes after it. */
async function write(
  shared: Shared,
  job: Job,
  deadline: OperationDeadline,
  note: (failure: unknown) => void,
): Promise<unknown> {
  invalidate(shared, job.callerHash);
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
  deadline.onEnd(listener);
  try {
    const response = await Promise.race([attempts.write(), end.promise]);
    note(undefined);
    deadline.received += response.text.length;
    const body = shared.bodies.keepWritten(response.text);
    deadline.keep(body, Number.POSITIVE_INFINITY);
    body.letGo();
    return writtenJson(job.call, response);
  } catch (error) {
    const failure = toDomainError(error);
    note(failure);
    listener.settled = true;
    if (isUnauthenticated(failure)) deadline.fail(failure);
    throw failure;
  } finally {
    listener.settled = true;
    invalidate(shared, job.callerHash);
  }
}

function invalidate({ json: reads, csv: tables }: Shared, callerHash: string): void {
  reads.invalidate(callerHash);
  tables.invalidate(callerHash);
}
