import { memoize } from '../memoize.ts';
import type { Caller } from './caller.ts';
import { statusOf, UpstreamError } from './errors.ts';
import type { CallRequest } from './resilience/gate.ts';
import { UpstreamCall } from './resilience/upstream-call.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { deletedJson, type ReadFormat, readFormats, writtenJson } from './response-content.ts';
import type { RestOperation } from './rest-operations.ts';
import type { RestRun } from './rest-run.ts';
import { acceptedCodings } from './transport/content-coding.ts';

/** Makes REST calls for one operation until its deadline. A call that fails rejects with an UpstreamError. */
export interface RestClient {
  /**
   * Resolves to what a GET is answered with, as JSON by default. `target` is the path with its query. Equal reads in
   * flight share one call. A page may have more rows than `target` asks for.
   */
  readonly read: (endpoint: RestOperation, target: string, format?: ReadFormat) => Promise<unknown>;
  /** Sends a write at most once. Resolves to the JSON of the response; undefined if that is empty. */
  readonly write: (endpoint: RestOperation, target: string, body?: unknown) => Promise<unknown>;
}

/** Makes REST calls with the caller's key. Uses no kept answers. */
export class CallerClient implements RestClient {
  readonly #resources: UpstreamResources;
  readonly #run: RestRun;

  constructor(resources: UpstreamResources, run: RestRun) {
    this.#resources = resources;
    this.#run = run;
  }

  read(
    endpoint: RestOperation,
    target: string,
    format: ReadFormat = 'json',
    onResult?: CallRequest['onResult'],
  ): Promise<unknown> {
    const { calls, deadline, epoch } = this.#run;
    calls.noteSurface(endpoint.surface);
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const { reads, retries } = this.#resources;
    const name = `${epoch.name} ${target}`;
    const running = reads.find(name);
    if (running !== undefined) return this.#join(running, target);
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { decode } = readFormats[format];
    const call = new UpstreamCall(this.#resources, this.#run, {
      endpoint,
      target,
      headers: this.#headers(format),
      isWrite: false,
      decode,
      onResult,
    });
    reads.add(name, call);
    retries.earn();
    const answer = call.join(this.#run);
    call.start();
    return answer;
  }

  /** The epoch of the key is renewed before the write is sent, and again after the write has ended. */
  async write(endpoint: RestOperation, target: string, content?: unknown): Promise<unknown> {
    this.#run.calls.noteSurface(endpoint.surface);
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    this.#resources.drift?.written(content);
    const body = content === undefined ? undefined : JSON.stringify(content);
    const common = this.#headers('json');
    const headers = body === undefined ? common : { ...common, 'content-type': 'application/json' };
    const decode = endpoint.method === 'DELETE' ? deletedJson : writtenJson;
    const request = { endpoint, target, headers, body, isWrite: true, decode };
    const call = new UpstreamCall(this.#resources, this.#run, request);
    const answer = call.join(this.#run);
    call.start();
    try {
      return await answer;
    } catch (error) {
      if (call.sends > 0) this.#renewLater(error);
      throw error;
    } finally {
      if (call.sends > 0) await this.#resources.renewEpoch(this.#run);
    }
  }

  /**
   * Renews the epoch once more if a failed write may still arrive: it has no answer, or one with a 5xx, which a proxy
   * may have sent.
   */
  #renewLater(error: unknown): void {
    const { lateWriteMs, renewEpoch } = this.#resources;
    if (lateWriteMs === undefined || (statusOf(error) ?? 500) < 500) return;
    setTimeout(() => void renewEpoch(this.#run), lateWriteMs).unref();
  }

  #join(running: UpstreamCall, target: string): Promise<unknown> {
    const { calls, spans } = this.#run;
    const answer = running.join(this.#run);
    const ended = calls.noteShared(target);
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
    const { deadline, calls } = this.#run;
    if (deadline.ended !== undefined) return deadline.ended;
    return calls.reserve() ? undefined : new UpstreamError('COST_LIMIT_EXCEEDED');
  }

  #headers(format: ReadFormat): CallRequest['headers'] {
    const { caller, trace } = this.#run;
    const isTraced = trace?.['traceparent'] !== undefined;
    if (!isTraced && format === 'json') return untracedJsonHeaders(caller);
    return { ...trace, ...headersOf(caller), accept: readFormats[format].accept };
  }
}

function headersOf({ key }: Caller): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'accept-encoding': acceptedCodings };
}

/** One object for each caller, so that the header lines are put together only once. */
const untracedJsonHeaders = memoize((caller: Caller): CallRequest['headers'] => ({
  ...headersOf(caller),
  accept: 'application/json',
}));
