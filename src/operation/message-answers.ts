import { type ExecutionResult, executeSubscriptionEvent, type ValidatedSubscriptionArgs } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { isObject } from '../rest/values.ts';
import { callerNameOf, nameOf, type PlannedRun, type RequestContext } from './operation-run.ts';
import type { OperationResult } from './result.ts';
import type { Results } from './results.ts';

/** Makes the context of the beginning of a stream, of one of its messages, or of a poll. */
export type CreateStreamContext = (
  request: Pick<RequestContext, 'caller' | 'trace' | 'spans'>,
  deadline: OperationDeadline,
  calls: OperationCalls,
) => Promise<GatewayContext>;

/** What messages are answered with. */
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
  /** REST calls that were made for it; none if it was made for another subscription already. */
  readonly calls: number;
}

/**
 * Answers messages of subscriptions: each is executed as an operation of its own, with a deadline and limits of its own.
 * Subscriptions that ask the same of the same message in the name of the same caller share one answer.
 */
export class MessageAnswers {
  readonly #options: MessageAnswersOptions;
  readonly #known = new WeakMap<object, Map<string, Promise<MessageAnswer>>>();

  constructor(options: MessageAnswersOptions) {
    this.#options = options;
  }

  /** The answer of a subscription to a message; `payload` is the message as its source gave it. Never rejects. */
  of(run: PlannedRun, args: ValidatedSubscriptionArgs, payload: unknown): Promise<MessageAnswer> {
    const { request, cost } = run;
    const { caller } = request;
    if (!isObject(payload) || caller === undefined || cost.wantsExtensions) return this.#execute(run, args, payload);
    const answers = this.#known.get(payload) ?? new Map<string, Promise<MessageAnswer>>();
    this.#known.set(payload, answers);
    const name = `${callerNameOf(caller)} ${nameOf(run)}`;
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
    // The stream goes on: of a message only the fields fail whose calls are refused.
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
