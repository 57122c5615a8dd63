import { type ExecutionResult, executeSubscriptionEvent, type ValidatedSubscriptionArgs } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { isObject } from '../rest/values.ts';
import { nameOf, type PlannedRun, type RequestContext } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import type { Results } from './results.ts';

/** Makes the context for the start of a stream, for one of its messages, or for a poll. */
export type CreateStreamContext = (
  request: Pick<RequestContext, 'caller' | 'trace' | 'spans'>,
  deadline: OperationDeadline,
  calls: OperationCalls,
) => Promise<GatewayContext>;

/** Collaborators and limits of the answers to messages. */
export interface MessageAnswersOptions {
  readonly createContext: CreateStreamContext;
  readonly results: Results;
  readonly eventLoop: EventLoopYield;
  /** Longest time that one message may take to be answered, in milliseconds. */
  readonly operationDeadlineMs: number;
}

/** One message answered. */
export interface MessageAnswer {
  readonly result: OperationResult;
  /** The REST calls made for the message. Zero if another subscription had already requested the answer. */
  readonly calls: number;
}

/**
 * Answers messages of subscriptions. Each message is executed as an operation with its own deadline and limits.
 * Subscriptions of the same caller with the same operation and variables share one answer to a message.
 */
export class MessageAnswers {
  readonly #options: MessageAnswersOptions;
  readonly #known = new WeakMap<object, Map<string, Promise<MessageAnswer>>>();

  constructor(options: MessageAnswersOptions) {
    this.#options = options;
  }

  /** Answers a message of a subscription. `payload` is the message as the source gave it. Never rejects. */
  of(run: PlannedRun, args: ValidatedSubscriptionArgs, payload: unknown): Promise<MessageAnswer> {
    const { request, cost } = run;
    const { caller } = request;
    if (!isObject(payload) || caller === undefined || cost.wantsExtensions) return this.#execute(run, args, payload);
    const answers = this.#known.get(payload) ?? new Map<string, Promise<MessageAnswer>>();
    this.#known.set(payload, answers);
    const name = nameOf(run, caller);
    const known = answers.get(name);
    if (known !== undefined) return known.then(({ result }) => ({ result, calls: 0 }));
    const answer = this.#execute(run, args, payload);
    answers.set(name, answer);
    return answer;
  }

  async #execute(run: PlannedRun, args: ValidatedSubscriptionArgs, payload: unknown): Promise<MessageAnswer> {
    const { createContext, results, eventLoop, operationDeadlineMs } = this.#options;
    const turn = eventLoop.take(performance.now());
    if (turn !== undefined) await turn;
    const calls = run.cost.calls.again();
    // The stream continues: a refused call fails only the fields that need it.
    calls.answer();
    const cost = { extensions: () => run.cost.extensions(calls) };
    const deadline = new OperationDeadline(operationDeadlineMs);
    const { caller, trace } = run.request;
    const context = await createContext({ caller, trace, spans: undefined }, deadline, calls);
    const { answer } = context;
    let executed: ExecutionResult;
    try {
      executed = await executeSubscriptionEvent({ ...args, rootValue: payload, contextValue: context });
    } finally {
      deadline.finish();
      answer.finish();
    }
    const { prepared } = run.document;
    const { data, errors } = executed;
    return { result: results.of({ data, errors, prepared, cost, answer, deadline }), calls: calls.made };
  }
}
