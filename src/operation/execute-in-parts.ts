import type { GatewayContext, PartsFormat } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { CreateContext } from './contexts.ts';
import type { ExecutedInParts, ExecutedPart } from './defer.ts';
import type { DeferredOperation } from './document.ts';
import type { ErrorReporting } from './errors.ts';
import type { PlannedRun } from './operation-run.ts';
import { PartsWriter } from './parts-writer.ts';
import type { AnswerParts, OperationResult } from './result.ts';
import type { Results } from './results.ts';
import { withBudget } from './spent-budget.ts';

/** Collaborators of executions in parts. */
interface InPartsOptions extends ErrorReporting {
  readonly createContext: CreateContext;
  readonly results: Results;
  readonly eventLoop: EventLoopYield;
  /** The budget of each key; undefined if calls are not limited. */
  readonly budget?: CallBudget | undefined;
}

/** An operation with `@defer`, and the format of its parts. */
type Deferred = DeferredOperation & { readonly format: PartsFormat };

/** The operation with `@defer` and the format of its parts; undefined if it is answered as a whole. */
export function deferredOf({ document: { prepared }, cost, request }: PlannedRun): Deferred | undefined {
  const { deferred } = prepared;
  if (deferred === undefined || request.parts === undefined || !cost.mayDefer) return undefined;
  return { ...deferred, format: request.parts };
}

/**
 * Executes an operation in parts. The result describes the first part and holds the texts of all parts. If the
 * variables defer nothing, it is an ordinary result. The operation ends with its last part, however slowly the client
 * reads.
 */
export async function executeInParts(
  run: PlannedRun,
  { format, execute }: Deferred,
  deadline: OperationDeadline,
  options: InPartsOptions,
): Promise<OperationResult> {
  const { cost, request } = run;
  const context: GatewayContext = { ...options.createContext(request, deadline, cost.calls, run.epoch), parts: format };
  deadline.isLarge = cost.isLarge;
  const finish = (): void => {
    deadline.finish();
    context.answer.finish();
  };
  try {
    const executed = await execute(context, run.coerced);
    return await answerOf(executed, run, { context, format, deadline, finish }, options);
  } catch (error) {
    finish();
    throw error;
  }
}

/** An execution in parts, and the signals that end it. */
interface Executing {
  readonly context: GatewayContext;
  readonly format: PartsFormat;
  readonly deadline: OperationDeadline;
  readonly finish: () => void;
}

async function answerOf(
  executed: ExecutedInParts,
  run: PlannedRun,
  { context: { answer }, format, deadline, finish }: Executing,
  { results, eventLoop, budget, maxErrors, report }: InPartsOptions,
): Promise<OperationResult> {
  const { cost, request, document } = run;
  const { prepared } = document;
  const takeTurn = async (): Promise<void> => {
    if (cost.isLarge) await eventLoop.takeLast();
  };
  const beforeLast = async (): Promise<void> => {
    if (cost.wantsCost && budget !== undefined) await withBudget(run, {}, budget);
  };
  await takeTurn();
  const { data, errors } = 'initialResult' in executed ? executed.initialResult : executed;
  const execution = { data, errors, prepared, cost, answer, deadline };
  const { why, mostBytes } = results.weigh(execution);
  if (!('initialResult' in executed) || why !== undefined) {
    finish();
    const result = results.of({ ...execution, freshUntil: cost.calls.freshUntil });
    return budget === undefined ? result : withBudget(run, result, budget);
  }
  const writer = new PartsWriter({
    ...{ format, prepared, request, cost, answer, deadline, results, maxErrors, report },
    beforeLast,
  });
  const first = writer.first(executed.initialResult, mostBytes);
  cost.calls.answer();
  const parts = writeParts(writer, first, executed.subsequentResults, { takeTurn, finish, report });
  const { rateLimits } = budget === undefined ? {} : await withBudget(run, {}, budget);
  return { prepared, data, errors: writer.errors, parts: { format, ...parts }, rateLimits };
}

/** Functions that `writeParts` needs beside the writer. */
interface Accompanying extends Pick<ErrorReporting, 'report'> {
  /** Waits until the event loop has time for a large part. */
  readonly takeTurn: () => Promise<void>;
  /** Ends the operation. */
  readonly finish: () => void;
}

/** The texts of all parts, made as soon as the executor has them. */
function writeParts(
  writer: PartsWriter,
  first: string,
  further: AsyncIterable<ExecutedPart>,
  { takeTurn, finish, report }: Accompanying,
): Omit<AnswerParts, 'format'> {
  let controller: ReadableStreamDefaultController<string> | undefined;
  const texts = new ReadableStream<string>({
    start: (taken) => {
      controller = taken;
      taken.enqueue(first);
    },
    // The client has left.
    cancel: () => {
      controller = undefined;
    },
  });
  const write = async (): Promise<void> => {
    for await (const part of further) {
      await takeTurn();
      const text = await writer.next(part);
      controller?.enqueue(text);
      if (writer.isOver) break;
    }
  };
  const over = write()
    .catch(async (error: unknown) => {
      const text = await writer.fail(error);
      controller?.enqueue(text);
    })
    .then(() => {
      finish();
      controller?.close();
      return { data: null, errors: writer.errors };
    });
  over.catch(report);
  return { texts, over };
}
