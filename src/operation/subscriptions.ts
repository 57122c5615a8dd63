import {
  createSourceEventStream,
  type ExecutionResult,
  executeSubscriptionEvent,
  type GraphQLError,
  type GraphQLSchema,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql';
import type { CreateContext, GatewayContext } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { Listener } from '../live/listener.ts';
import { type BackoffOf, backoffBy, starvationReason } from '../live/pace.ts';
import { type OpenStream, type StreamLimits, Streams } from '../live/streams.ts';
import { Tails } from '../live/tails.ts';
import { MemoryRoom } from '../memory.ts';
import type { Caller } from '../rest/caller.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import type { AnyRestRun } from '../rest/rest-run.ts';
import type { Upstream } from '../rest/upstream.ts';
import { isObject } from '../rest/values.ts';
import type { AnswerLimits } from './answer-limits.ts';
import type { OperationResult, StreamMessage } from './operation-result.ts';
import { nameOf, type OperationRun, type RequestContext } from './operation-run.ts';
import { type ErrorReporting, toPublicErrors } from './public-errors.ts';
import { overload, RefusedDocument, RequestError } from './request-error.ts';

/** Settings of subscriptions. */
export interface SubscriptionSettings extends StreamLimits {
  /** The time between two polls, in milliseconds. */
  readonly pollMs: number;
  /** Gives the factor by which polls with a key are slowed down. By default, the key's remaining calls decide it. */
  readonly backoffOf?: BackoffOf | undefined;
}

/** The memory for messages that wait for slow clients, in bytes. */
const waitingBytes = 96 * 2 ** 20;

/** The memory for the answers to messages that are kept for further equal subscriptions, in bytes. */
const keptBytes = 32 * 2 ** 20;

/** The time for which they are kept, in milliseconds. Equal subscriptions get to a message within a few seconds. */
const keptMs = 5000;

interface SubscriptionsOptions extends ErrorReporting {
  readonly schema: GraphQLSchema;
  readonly createContext: CreateContext;
  readonly upstream: Pick<Upstream, 'resources' | 'epochOf'>;
  readonly answerLimits: AnswerLimits;
  readonly eventLoop: EventLoopYield;
  /** The longest time for answering one message, in milliseconds. */
  readonly operationDeadlineMs: number;
  readonly maxPageSize: number;
  readonly memory: MemoryRoom;
  readonly introspection: boolean;
}

/** A stream that has ended. */
export interface StreamEnd {
  readonly messages: number;
  /** The number of REST calls made for these messages, without polls. */
  readonly calls: number;
  /** The errors that ended the stream; undefined if the client ended it. */
  readonly errors: OperationResult['errors'];
}

/** The answer to one message. */
interface MessageAnswer {
  readonly result: OperationResult;
  /** The number of its REST calls; zero if another subscription had already requested the answer. */
  readonly calls: number;
}

/** Subscriptions of one process. */
export class Subscriptions {
  readonly streams: Streams;
  readonly tails: Tails;
  readonly options: SubscriptionsOptions;
  /** The answers to each message, by caller, operation and variables. */
  readonly #answers = new WeakMap<object, Map<string, Promise<MessageAnswer>>>();
  readonly #keptRoom: MemoryRoom;

  constructor(settings: SubscriptionSettings, options: SubscriptionsOptions) {
    const { maxPageSize, operationDeadlineMs: deadlineMs, upstream, memory } = options;
    const { resources } = upstream;
    this.options = options;
    this.#keptRoom = new MemoryRoom(keptBytes, { within: memory });
    this.streams = new Streams(settings, (caller) => resources.keys.isProven(caller));
    this.tails = new Tails({
      pollMs: settings.pollMs,
      room: new MemoryRoom(waitingBytes, { within: memory }),
      backoffOf: settings.backoffOf ?? backoffBy(resources.limits),
      maxPageSize,
      deadlineMs,
      begin: (caller, calls) => this.beginRun({ caller, trace: {}, span: undefined }, calls),
      restFor: (run) => options.createContext(run).rest,
    });
  }

  /** Begins a subscription. Rejects if it is refused. Calls `onEnd` when its stream has ended. */
  async subscribe(run: OperationRun, caller: Caller, onEnd: (end: StreamEnd) => void): Promise<OperationResult> {
    const reason = starvationReason(this.options.upstream.resources.limits, caller);
    if (reason !== undefined) throw new RequestError('rateLimited', reason);
    const subscription = new Subscription(run, caller, this);
    const opening = this.streams.open(subscription);
    if (opening === 'too many of its caller') throw new RequestError('overloaded', tooManyOfCaller);
    if (opening === 'too many') throw overload();
    try {
      const source = await subscription.begin();
      run.request.onClose(() => {
        subscription.close();
        onEnd(subscription);
      });
      return { stream: subscription.answers(source), prepared: run.document.prepared };
    } catch (error) {
      subscription.close();
      throw error;
    }
  }

  /** Begins the REST calls for the start of a stream, for one message, or for a poll. No read uses kept answers. */
  async beginRun(
    { caller, trace, span: spans }: Pick<RequestContext, 'caller' | 'trace' | 'span'>,
    calls: OperationCalls,
  ): Promise<AnyRestRun> {
    const { upstream, operationDeadlineMs } = this.options;
    const epoch = await upstream.epochOf(caller, 'uncounted');
    return { caller, deadline: new OperationDeadline(operationDeadlineMs), calls, epoch, trace, spans };
  }

  /**
   * Answers a message of a subscription. `payload` is the message as the source gave it. Equal subscriptions of a
   * caller that get to it soon share one answer. If the promise rejects, each of them ends with the error.
   */
  answer(run: OperationRun, args: ValidatedSubscriptionArgs, payload: unknown): Promise<MessageAnswer> {
    const { request, cost } = run;
    const { caller } = request;
    if (!isObject(payload) || caller === undefined || cost.wantsExtensions) return this.#execute(run, args, payload);
    const answers = this.#answers.get(payload) ?? new Map<string, Promise<MessageAnswer>>();
    this.#answers.set(payload, answers);
    const name = nameOf(run, caller);
    const known = answers.get(name);
    if (known !== undefined) return known.then(({ result }) => ({ result, calls: 0 }));
    const answer = this.#execute(run, args, payload);
    answers.set(name, answer);
    // A message may wait long for a slow client. Without a limit, it would keep all of its answers for as long.
    void answer.then(
      ({ result: { mostBytes = 0 } }) => this.#keep(mostBytes, () => answers.delete(name)),
      () => undefined,
    );
    return answer;
  }

  /** Drops an answer after `keptMs`, or at once if there is no room for it. */
  #keep(bytes: number, drop: () => void): void {
    const claim = this.#keptRoom.claim();
    if (!this.#keptRoom.isFree(bytes)) return drop();
    claim.insist(bytes);
    setTimeout(() => {
      claim.release();
      drop();
    }, keptMs).unref();
  }

  /** Executes a message as an operation with its own deadline and limits. */
  async #execute(run: OperationRun, args: ValidatedSubscriptionArgs, payload: unknown): Promise<MessageAnswer> {
    const { answerLimits, eventLoop, createContext } = this.options;
    const turn = eventLoop.waitForTurn(performance.now());
    if (turn !== undefined) await turn;
    const calls = run.cost.calls.forNextMessage();
    // The stream goes on after this message. So a refused call must fail only the fields that need it.
    calls.noteAnswer();
    const { caller, trace } = run.request;
    const context = createContext(await this.beginRun({ caller, trace, span: undefined }, calls));
    const { answerCounter } = context;
    let executed: ExecutionResult;
    try {
      executed = await executeSubscriptionEvent({ ...args, rootValue: payload, contextValue: context });
    } finally {
      answerCounter.finish();
    }
    return { result: answerLimits.resultOf(executed, run, answerCounter, calls), calls: calls.made };
  }
}

const tooManyOfCaller = 'The caller has as many open streams as it may have: close one, or try again later.';

interface Source {
  readonly args: ValidatedSubscriptionArgs;
  readonly payloads: AsyncIterable<unknown>;
}

const streamEnd = { done: true, value: undefined } as const;

/** The longest delay of Node's timers, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/** One subscription, from its beginning until its client has left. */
class Subscription implements OpenStream, StreamEnd {
  readonly caller: Caller;
  messages = 0;
  calls = 0;
  errors: OperationResult['errors'];
  readonly #run: OperationRun;
  readonly #subscriptions: Subscriptions;
  #listener: Listener | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #failure: GraphQLError | undefined;
  /** Releases the room of the answer that is being sent. */
  #release: (() => void) | undefined;

  constructor(run: OperationRun, caller: Caller, subscriptions: Subscriptions) {
    this.#run = run;
    this.caller = caller;
    this.#subscriptions = subscriptions;
  }

  readonly disconnect = (): void => this.#run.request.disconnect();

  readonly onOutdated = (): void =>
    this.#fail(new RequestError('changedTenant', 'What the tenant may reach has changed: subscribe again.'));

  /** Begins to listen. Rejects if an argument is refused. */
  async begin(): Promise<Source> {
    const { schema, introspection, createContext } = this.#subscriptions.options;
    const { request, params, document, cost } = this.#run;
    const { prepared } = document;
    const begun = await this.#subscriptions.beginRun(request, cost.calls);
    const { deadline } = begun;
    request.onLeave(() => deadline.end('left'));
    try {
      const context = createContext(begun);
      const args = validateSubscriptionArgs({
        schema,
        document: prepared.document,
        operationName: prepared.operation.name?.value,
        variableValues: params.variables,
        contextValue: { ...context, follow: this.#follow },
        hideSuggestions: !introspection,
      });
      if (!('schema' in args)) throw new RefusedDocument(args);
      const payloads = await createSourceEventStream(args);
      if (!(Symbol.asyncIterator in payloads)) throw new RefusedDocument(payloads.errors ?? []);
      this.#expireAt(request.expiresAt);
      return { args, payloads };
    } finally {
      deadline.finish();
    }
  }

  /**
   * The messages for the client. An error that ends the stream is the last message. No generator makes them, because it
   * would keep its last message in memory until it has the next one.
   */
  answers({ args, payloads }: Source): AsyncIterable<StreamMessage> {
    const iterator = payloads[Symbol.asyncIterator]();
    let isLast = false;
    const next = async (): Promise<IteratorResult<StreamMessage, void>> => {
      // The transport asks for the next message as soon as the client has taken the one before.
      this.#release?.();
      if (isLast) return streamEnd;
      try {
        const result = await this.#nextResult(iterator, args);
        return result === undefined ? streamEnd : { value: { result, isLast: false } };
      } catch (error) {
        this.errors = toPublicErrors([error], this.#subscriptions.options);
        isLast = true;
        return { value: { result: { errors: this.errors }, isLast } };
      }
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** The answer to the next message; undefined if the stream ends. */
  async #nextResult(
    payloads: AsyncIterator<unknown>,
    args: ValidatedSubscriptionArgs,
  ): Promise<OperationResult | undefined> {
    const { streams, options } = this.#subscriptions;
    const payload = await payloads.next();
    if (payload.done === true) return undefined;
    const { result: answered, calls } = await this.#subscriptions.answer(this.#run, args, payload.value);
    this.calls += calls;
    // Many streams may have to write the same message.
    const turn = options.answerLimits.isLarge(answered)
      ? options.eventLoop.waitToWrite()
      : options.eventLoop.waitForTurn(performance.now());
    if (turn !== undefined) await turn;
    // The message may have been read after the caller lost the right to it.
    if (this.#failure !== undefined) throw this.#failure;
    const result = this.#claimText(answered);
    if (hadNoRoom(result)) {
      // The client must not miss the message: it reconnects and continues after the previous one.
      this.errors = result.errors;
      this.disconnect();
      return undefined;
    }
    this.messages += 1;
    streams.messages += 1;
    return result;
  }

  close(): void {
    clearTimeout(this.#expiry);
    this.#subscriptions.streams.close(this);
    this.#listener?.end();
    this.#release?.();
  }

  /** Takes room for a result until the client has read it or has left. */
  #claimText(result: OperationResult): OperationResult {
    const { request } = this.#run;
    return this.#subscriptions.options.answerLimits.claimText(result, {
      get stuckSince() {
        return request.stuckSince;
      },
      get pausesUntil() {
        return request.pausesUntil;
      },
      disconnect: this.disconnect,
      onClose: (release) => {
        this.#release = () => {
          this.#release = undefined;
          release();
        };
        if (request.hasLeft()) this.#release();
      },
    });
  }

  readonly #follow: NonNullable<GatewayContext['follow']> = (list, after) => {
    this.#listener = this.#subscriptions.tails.follow(this.caller, list, after, this.disconnect);
    if (this.#failure !== undefined) this.#listener.end(this.#failure);
    return this.#listener;
  };

  #fail(error: GraphQLError): void {
    this.#failure ??= error;
    this.#listener?.end(error);
  }

  /** Ends the subscription at `moment`, in milliseconds of `Date.now()`, but at the latest after 24 days. */
  #expireAt(moment: number | undefined): void {
    if (moment === undefined) return;
    const end = (): void => this.#fail(new RequestError('invalidToken', 'The token is not valid any more.'));
    this.#expiry = setTimeout(end, Math.min(Math.max(moment - Date.now(), 0), longestTimerMs));
  }
}

/** True if there was no room for a message. The same message may succeed a moment later. */
function hadNoRoom({ data, errors = [] }: OperationResult): boolean {
  return (data ?? null) === null && errors.some(({ extensions }) => extensions['code'] === 'OVERLOADED');
}
