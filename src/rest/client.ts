import type { CallSpans, TraceContext } from './call-spans.ts';
import type { Caller } from './caller.ts';
import type { OperationEpoch } from './epochs.ts';
import { UpstreamError } from './errors.ts';
import { type OnEnd, type OperationCalls, statusOf } from './operation-calls.ts';
import type { RestOperation } from './operation-ids.ts';
import type { AwaitingOperation } from './resilience/awaited-call.ts';
import { UpstreamCall } from './resilience/call.ts';
import type { CallOwner, CallRequest } from './resilience/gate.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { deletedJson, writtenJson } from './response-content.ts';
import type { SingleFlight } from './single-flight.ts';
import { acceptedCodings } from './transport/content-coding.ts';
import type { DecodedResponse } from './transport/decode-response.ts';

/** The part of an operation that its REST calls need. */
export interface CallingOperation extends AwaitingOperation {
  readonly trace?: TraceContext;
  /** The spans of its calls; undefined without tracing. */
  readonly spans?: CallSpans | undefined;
  /** The epoch that it began under; undefined if there are none. Reads are shared only within one epoch. */
  readonly epoch?: OperationEpoch | undefined;
}

/** REST calls in the name of one caller, before one operation's deadline. All fail with an UpstreamError. */
export interface RestClient {
  /**
   * The JSON that a GET answers. `target` is the path with its query. Equal reads in flight share one call. A page may
   * have more rows than `target` asks for.
   */
  readonly getJson: (operation: RestOperation, target: string) => Promise<unknown>;
  /** The text that a GET answers as `text/csv`. */
  readonly getCsv: (operation: RestOperation, target: string) => Promise<string>;
  /** The JSON that a write answers, or undefined. It is sent at most once, even if it is a GET that has an effect. */
  readonly write: (operation: RestOperation, target: string, body?: unknown) => Promise<unknown>;
}

/** Called with the value that a response holds, once for all operations that share the read. */
export type OnResponse = (value: unknown, response: DecodedResponse) => void;

/** The `Accept` header and the decoder of reads of one media type, and its reads in flight. */
interface ReadFormat<T> {
  readonly accept: string;
  readonly decode: (response: DecodedResponse) => T;
  readonly inFlight: SingleFlight<UpstreamCall<T>>;
}

/** The resources that the clients of all operations share. */
export interface Shared {
  readonly upstream: UpstreamResources;
  readonly json: ReadFormat<unknown>;
  readonly csv: ReadFormat<string>;
}

/** One operation's calls in the name of its caller. */
export class CallerClient implements RestClient, CallOwner {
  readonly caller: Caller;
  hasSucceeded = false;
  readonly #shared: Shared;
  readonly #operation: CallingOperation;
  /** The headers of JSON reads, which are the same for all of them. */
  #jsonHeaders: Readonly<Record<string, string>> | undefined;

  constructor(shared: Shared, caller: Caller, operation: CallingOperation) {
    this.#shared = shared;
    this.caller = caller;
    this.#operation = operation;
  }

  get calls(): OperationCalls {
    return this.#operation.calls;
  }

  get spans(): CallSpans | undefined {
    return this.#operation.spans;
  }

  getJson(operation: RestOperation, target: string, onResponse?: OnResponse): Promise<unknown> {
    this.#jsonHeaders ??= this.#headers(this.#shared.json.accept);
    return this.#read(this.#shared.json, operation, target, this.#jsonHeaders, onResponse);
  }

  getCsv(operation: RestOperation, target: string, onResponse?: OnResponse): Promise<string> {
    const { csv } = this.#shared;
    return this.#read(csv, operation, target, this.#headers(csv.accept), onResponse);
  }

  write(
    operation: RestOperation,
    target: string,
    content?: unknown,
    sending?: Pick<CallRequest<unknown>, 'beforeSend'>,
  ): Promise<unknown> {
    this.calls.touch(operation.surface);
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { upstream, json, csv } = this.#shared;
    const body = content === undefined ? undefined : JSON.stringify(content);
    const headers = this.#headers(json.accept);
    if (body !== undefined) headers['content-type'] = 'application/json';
    const decode = operation.method === 'DELETE' ? deletedJson : writtenJson;
    // Reads that begin after a write never join those from before or during it.
    const invalidate = (): void => {
      json.inFlight.invalidate(this.caller.sharingKey);
      csv.inFlight.invalidate(this.caller.sharingKey);
    };
    invalidate();
    const request = { operation, target, headers, body, isWrite: true, ...sending, decode };
    const call = new UpstreamCall(upstream, this, request);
    const answer = call.join(this.#operation);
    call.start();
    return answer.finally(invalidate);
  }

  #read<T>(
    format: ReadFormat<T>,
    operation: RestOperation,
    target: string,
    headers: Readonly<Record<string, string>>,
    onResponse: OnResponse | undefined,
  ): Promise<T> {
    const { calls, deadline, epoch } = this.#operation;
    calls.touch(operation.surface);
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const { inFlight } = format;
    const sharedBy = epoch === undefined ? this.caller.sharingKey : epoch.name;
    const running = inFlight.find(sharedBy, target);
    if (running !== undefined) return this.#join(running, target);
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const call = new UpstreamCall<T>(this.#shared.upstream, this, {
      operation,
      target,
      headers,
      isWrite: false,
      decode: onResponse === undefined ? format.decode : heard(format.decode, onResponse),
    });
    inFlight.add(sharedBy, target, call);
    const answer = call.join(this.#operation);
    call.start();
    return answer;
  }

  #join<T>(running: UpstreamCall<T>, target: string): Promise<T> {
    const { calls, spans } = this.#operation;
    const answer = running.join(this.#operation);
    reportEnd(answer, calls.share(target));
    if (spans !== undefined && running.trace !== undefined) spans.share(running.trace);
    return answer;
  }

  /** Reserves a call. Returns the error if the operation may make no more. */
  #refusal(): UpstreamError | undefined {
    const { deadline, calls } = this.#operation;
    if (deadline.ended !== undefined) return deadline.ended;
    return calls.reserve() ? undefined : new UpstreamError('COST_LIMIT_EXCEEDED');
  }

  #headers(accept: string): Record<string, string> {
    return {
      ...this.#operation.trace,
      authorization: `Bearer ${this.caller.key}`,
      'accept-encoding': acceptedCodings,
      accept,
    };
  }
}

/** A decoder that reports its values to a listener. */
function heard<T>(decode: ReadFormat<T>['decode'], onResponse: OnResponse): ReadFormat<T>['decode'] {
  return (response) => {
    const value = decode(response);
    onResponse(value, response);
    return value;
  };
}

function reportEnd(answer: Promise<unknown>, ended: OnEnd): void {
  answer.then(
    () => ended(200),
    (error: unknown) => ended(statusOf(error)),
  );
}
