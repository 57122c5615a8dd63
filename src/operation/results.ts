import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { type AnswerCounter, AnswerLimitError } from '../answer/answer-counter.ts';
import type { AnswerRoom } from '../answer/answer-room.ts';
import { rootWeight } from '../look-ahead/object-weight.ts';
import { noRoomForBodies, Refusal } from '../rest/errors.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import { measureJson } from './answer-bytes.ts';
import { bodyExcessError, effectOf, excessError, weigh } from './answer-limits.ts';
import type { Cost } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import { causeOf, type ErrorReporting, type PublicError, toPublicErrors } from './errors.ts';
import type { RequestContext } from './operation-run.ts';
import { overload } from './request-error.ts';
import type { OperationResult } from './result.ts';
import { stringifyResult } from './serialize.ts';
import { refusedOperation } from './spent-budget.ts';

/** Collaborators and limits of results. */
export interface ResultsOptions extends ErrorReporting {
  readonly schema: GraphQLSchema;
  /** Memory for answers that are being made or not yet taken. */
  readonly room: AnswerRoom;
  /** Most bytes of the data of an answer. */
  readonly maxAnswerBytes: number;
}

/** Data of an answer that has been executed. */
export interface ExecutedData {
  readonly data: unknown;
  readonly errors?: ExecutionResult['errors'] | undefined;
  readonly prepared: PreparedOperation;
  readonly answer: AnswerCounter;
  /** Tells what the upstream answered. */
  readonly deadline: OperationDeadline;
  /** Bytes of the parts before, if it is a part of an answer. */
  readonly written?: number;
}

/** An operation that has been executed. */
export interface Execution extends ExecutedData {
  readonly cost: Pick<Cost, 'extensions'>;
  /** For how long all stays fresh that it was given, in milliseconds; undefined if nothing is cached. */
  readonly freshMs?: number | undefined;
}

/** A request that waits for its answer. */
type Asking = Pick<RequestContext, 'onClose'>;

/** Makes the results of operations, and holds them to what an answer may have. */
export class Results {
  readonly #options: ResultsOptions;

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  /** True if the process has no room for a further answer. */
  get isFull(): boolean {
    return this.#options.room.isFull;
  }

  /** The result of an execution. One that exceeds a limit loses its data, and one error says why. */
  of(execution: Execution): OperationResult {
    const { data, errors, prepared, cost, freshMs } = execution;
    const extensions = cost.extensions();
    const { why, mostBytes } = this.weigh(execution);
    if (why === undefined) {
      const publicErrors = errors && toPublicErrors(errors, this.#options);
      return { prepared, data, errors: publicErrors, extensions, text: undefined, mostBytes, freshMs };
    }
    // Nothing of it was done.
    if (execution.deadline.ended instanceof Refusal) return this.#dropped({ extensions }, prepared, why);
    // Below them everything is dropped, the errors too.
    const ofRoot = errors?.filter((error) => error.path?.length === 1 && !(causeOf(error) instanceof AnswerLimitError));
    const ofMutations = toPublicErrors(ofRoot ?? [], this.#options);
    return this.#dropped({ data, errors: ofMutations, extensions }, prepared, why);
  }

  /** The most bytes that the data of an execution can have as text, or why it is not answered. */
  weigh({ data, errors, prepared, answer, deadline, written }: ExecutedData): {
    readonly why: GraphQLError | undefined;
    readonly mostBytes: number;
  } {
    const { bodyExcess, ended, received } = deadline;
    if (bodyExcess !== undefined) {
      const waiting = errors?.find((error) => causeOf(error) === ended);
      return { why: bodyExcessError(bodyExcess, waiting?.path), mostBytes: 0 };
    }
    if (ended instanceof Refusal) return { why: refusedOperation(ended), mostBytes: 0 };
    if (answer.isShed || ended === noRoomForBodies) return { why: overload(), mostBytes: 0 };
    if (data === undefined) return { why: undefined, mostBytes: 0 };
    const root = rootWeight(prepared);
    const { excess, mostBytes } = weigh({ data, answer, root, received, written }, this.#options.maxAnswerBytes);
    return { why: excess && excessError(excess), mostBytes };
  }

  /** True if a result takes long to write and to send. */
  isLarge({ mostBytes = 0 }: OperationResult): boolean {
    return mostBytes > largeAnswer;
  }

  /** The result with its text made, if that is large enough to be counted, and room taken for it; else why there is none. */
  withRoom(result: OperationResult, prepared: PreparedOperation, request: Asking): OperationResult {
    const { mostBytes = 0 } = result;
    if (mostBytes <= uncounted) return result;
    const { room, maxAnswerBytes } = this.#options;
    if (result.text === undefined) {
      const fits = room.fits(mostBytes) || room.fits(measureJson(result.data, maxAnswerBytes).bytes);
      if (!fits) return this.#dropped(result, prepared, overload());
      result.text = stringifyResult(result);
    }
    if (result.text.length <= uncounted) return result;
    const bytes = Buffer.byteLength(result.text);
    if (!room.take(bytes)) return this.#dropped(result, prepared, overload());
    request.onClose(() => room.release(bytes));
    return result;
  }

  /** Takes room for one text after the other until their client has them all, or has left; false if there is none. */
  claim(request: Asking): (bytes: number) => boolean {
    const { room } = this.#options;
    let taken: number | undefined = 0;
    request.onClose(() => {
      room.release(taken ?? 0);
      taken = undefined;
    });
    return (bytes) => {
      if (taken === undefined) return true;
      if (!room.take(bytes)) return false;
      taken += bytes;
      return true;
    };
  }

  /** Of a query nothing is left, of a mutation what it did. */
  #dropped(
    { data, errors = [], extensions, rateLimits }: OperationResult,
    { operation }: PreparedOperation,
    why: ReturnType<typeof overload>,
  ): OperationResult {
    const whys = toPublicErrors([why], this.#options);
    if (operation.operation !== 'mutation' || data === undefined) {
      // Without data, the status is that of the error.
      const isRefused = whys.some(({ http }) => http !== undefined);
      return { errors: whys, extensions, rateLimits, ...(!isRefused && { data: null }) };
    }
    return { data: effectOf(data), errors: [...errors.filter(isOfRoot), ...whys], extensions, rateLimits };
  }
}

/** Answers up to this size are sent at once, mostly, and none of the room is counted for them; in bytes. */
const uncounted = 2 ** 14;

/** Answers of more bytes take milliseconds to write. */
const largeAnswer = 2 ** 18;

/** Errors of mutations that were not done. */
function isOfRoot({ path }: PublicError): boolean {
  return path?.length === 1;
}
