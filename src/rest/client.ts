import { memoize } from '../memoize.ts';
import type { CallSpans } from './call-spans.ts';
import type { Caller } from './caller.ts';
import { UpstreamError } from './errors.ts';
import { type OperationCalls, statusOf } from './operation-calls.ts';
import type { CallOwner, CallRequest } from './resilience/gate.ts';
import { type CallingOperation, UpstreamCall } from './resilience/upstream-call.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { deletedJson, type ReadFormat, readFormats, writtenJson } from './response-content.ts';
import type { RestOperation } from './rest-operations.ts';
import { acceptedCodings } from './transport/content-coding.ts';

/**
 * Makes REST calls for one caller, until the deadline of one operation. A call that fails rejects with an
 * UpstreamError.
 */
export interface RestClient {
  /**
   * Reads the value that a GET is answered with, as JSON by default. `target` is the path with its query. Equal reads
   * in flight share one call. A page may have more rows than `target` asks for.
   */
  readonly read: (operation: RestOperation, target: string, format?: ReadFormat) => Promise<unknown>;
  /**
   * Sends a write at most once. Resolves to the JSON of the response; undefined if that is empty. A GET that has an
   * effect is a write, too.
   */
  readonly write: (operation: RestOperation, target: string, body?: unknown) => Promise<unknown>;
}

/** Makes the REST calls of one operation, with the key of its caller. */
export class CallerClient implements RestClient, CallOwner {
  readonly caller: Caller;
  hasSucceeded = false;
  readonly #resources: UpstreamResources;
  readonly #operation: CallingOperation;

  constructor(resources: UpstreamResources, caller: Caller, operation: CallingOperation) {
    this.#resources = resources;
    this.caller = caller;
    this.#operation = operation;
  }

  get calls(): OperationCalls {
    return this.#operation.calls;
  }

  get spans(): CallSpans | undefined {
    return this.#operation.spans;
  }

  read(
    operation: RestOperation,
    target: string,
    format: ReadFormat = 'json',
    settle?: CallRequest['settle'],
  ): Promise<unknown> {
    const { calls, deadline, epoch } = this.#operation;
    calls.touch(operation.surface);
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const { reads, retries } = this.#resources;
    const name = `${epoch.name} ${target}`;
    const running = reads.find(name);
    if (running !== undefined) return this.#join(running, target);
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { decode } = readFormats[format];
    const call = new UpstreamCall(this.#resources, this, {
      operation,
      target,
      headers: this.#headers(format),
      isWrite: false,
      decode,
      settle,
    });
    reads.add(name, call);
    retries.earn();
    const answer = call.join(this.#operation);
    call.start();
    return answer;
  }

  /** Sends a write. The epoch of the key is renewed before the write is sent, and again when it has ended. */
  async write(operation: RestOperation, target: string, content?: unknown): Promise<unknown> {
    this.calls.touch(operation.surface);
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    this.#resources.drift?.written(content);
    const body = content === undefined ? undefined : JSON.stringify(content);
    const common = this.#headers('json');
    const headers = body === undefined ? common : { ...common, 'content-type': 'application/json' };
    const decode = operation.method === 'DELETE' ? deletedJson : writtenJson;
    const request = { operation, target, headers, body, isWrite: true, decode };
    const call = new UpstreamCall(this.#resources, this, request);
    const answer = call.join(this.#operation);
    call.start();
    try {
      return await answer;
    } catch (error) {
      if (call.wasSent) this.#renewLater(error);
      throw error;
    } finally {
      if (call.wasSent) await this.renewEpoch();
    }
  }

  /** Later operations, and later reads of this operation, are given no answers from before. */
  renewEpoch(): Promise<void> | undefined {
    const { epochs, keys } = this.#resources;
    const { epoch } = this.#operation;
    const renewed = epochs.renew(this.caller.sharingKey, keys.isProven(this.caller));
    if (renewed instanceof Promise) return renewed.then((name) => epoch.moveTo(name));
    epoch.moveTo(renewed);
    return undefined;
  }

  /**
   * Renews the epoch once more if a failed write may still arrive: it has no answer, or one with a 5xx, which a proxy may
   * have sent.
   */
  #renewLater(error: unknown): void {
    const { lateWriteMs } = this.#resources;
    if (lateWriteMs === undefined || (statusOf(error) ?? 500) < 500) return;
    setTimeout(() => void this.renewEpoch(), lateWriteMs).unref();
  }

  #join(running: UpstreamCall, target: string): Promise<unknown> {
    const { calls, spans } = this.#operation;
    const answer = running.join(this.#operation);
    const ended = calls.share(target);
    if (ended !== undefined)
      answer.then(
        () => ended(200),
        (error: unknown) => ended(statusOf(error)),
      );
    if (spans !== undefined && running.trace !== undefined) spans.share(running.trace);
    return answer;
  }

  /** Reserves a call. Returns the error if the operation may make no more. */
  #refusal(): UpstreamError | undefined {
    const { deadline, calls } = this.#operation;
    if (deadline.ended !== undefined) return deadline.ended;
    return calls.reserve() ? undefined : new UpstreamError('COST_LIMIT_EXCEEDED');
  }

  #headers(format: ReadFormat): CallRequest['headers'] {
    const { trace } = this.#operation;
    const isTraced = trace?.['traceparent'] !== undefined;
    if (!isTraced && format === 'json') return untracedJsonHeaders(this.caller);
    return { ...trace, ...headersOf(this.caller), accept: readFormats[format].accept };
  }
}

function headersOf({ key }: Caller): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'accept-encoding': acceptedCodings };
}

/**
 * The headers of JSON calls without a trace. There is one object for each caller, so that its header lines are put
 * together only once.
 */
const untracedJsonHeaders = memoize((caller: Caller): CallRequest['headers'] => ({
  ...headersOf(caller),
  accept: 'application/json',
}));
