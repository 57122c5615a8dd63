import { type ExecutionResult, GraphQLError } from 'graphql';
import { type AnswerCounter, type AnswerExcess, AnswerLimitError } from '../answer-counter.ts';
import { rootWeight } from '../look-ahead/object-weight.ts';
import type { MemoryRoom, Reader } from '../memory.ts';
import { noRoomForBodies, RefusedCall } from '../rest/errors.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import type { BodyExcess } from '../rest/operation-deadline.ts';
import { isObject } from '../rest/values.ts';
import { measureJson, mostValues } from './answer-bytes.ts';
import type { PreparedOperation } from './document.ts';
import { type OperationResult, textOf } from './operation-result.ts';
import type { OperationRun } from './operation-run.ts';
import { causeOf, type ErrorReporting, type PublicError, toPublicErrors } from './public-errors.ts';
import { refusedOperation } from './rate-limits.ts';
import { overload } from './request-error.ts';

interface AnswerLimitsOptions extends ErrorReporting {
  readonly room: MemoryRoom;
  readonly maxAnswerBytes: number;
}

/** The data and errors that an executor has made. */
interface DataAndErrors {
  readonly data?: unknown;
  readonly errors?: ExecutionResult['errors'] | undefined;
}

interface LimitCheck {
  /** The reason why the data must not be sent; undefined if it may be sent. */
  readonly error: GraphQLError | undefined;
  readonly mostBytes: number;
}

/** Makes the results of operations within the limits of answers. */
export class AnswerLimits {
  /** The memory for answers that are being made or that clients have not read yet. */
  readonly room: MemoryRoom;
  readonly #options: AnswerLimitsOptions;

  constructor(options: AnswerLimitsOptions) {
    this.room = options.room;
    this.#options = options;
  }

  /**
   * The result of an execution. If it exceeds a limit, an error with the reason replaces its data. `calls` are the
   * calls of a message, if the operation is a subscription.
   */
  resultOf(
    { data, errors }: DataAndErrors,
    { document: { prepared }, cost }: OperationRun,
    counter: AnswerCounter,
    calls: OperationCalls = cost.calls,
  ): OperationResult {
    const extensions = cost.extensions(calls);
    const { error, mostBytes } = this.check({ data, errors }, prepared, counter);
    if (error === undefined) {
      const { freshUntil } = calls;
      const publicErrors = errors && toPublicErrors(errors, this.#options);
      return { prepared, data, errors: publicErrors, extensions, text: undefined, mostBytes, freshUntil };
    }
    // No REST call was sent, so the operation counts as not executed, and its result has no data.
    if (counter.deadline.ended instanceof RefusedCall) return this.#dropped({ prepared, extensions }, error);
    // Errors below the root fields are dropped together with their data.
    const ofRoot = errors?.filter((one) => one.path?.length === 1 && !(causeOf(one) instanceof AnswerLimitError));
    const ofMutations = toPublicErrors(ofRoot ?? [], this.#options);
    return this.#dropped({ prepared, data, errors: ofMutations, extensions }, error);
  }

  /** Checks data against the limits of an answer. `earlierBytes` is the number of bytes of its earlier parts. */
  check(
    { data, errors }: DataAndErrors,
    prepared: PreparedOperation,
    counter: AnswerCounter,
    earlierBytes = 0,
  ): LimitCheck {
    const { bodyExcess, ended } = counter.deadline;
    if (bodyExcess !== undefined) {
      const waiting = errors?.find((error) => causeOf(error) === ended);
      return { error: bodyExcessError(bodyExcess, waiting?.path), mostBytes: 0 };
    }
    if (ended instanceof RefusedCall) return { error: refusedOperation(ended), mostBytes: 0 };
    if (counter.hadNoRoom || ended === noRoomForBodies) return { error: overload(), mostBytes: 0 };
    if (data === undefined) return { error: undefined, mostBytes: 0 };
    const mostBytes = counter.mostBytes(rootWeight(prepared));
    const { maxAnswerBytes: limit } = this.#options;
    if (counter.excess !== undefined) return { error: excessError(counter.excess), mostBytes };
    // Checked before measuring, because measuring takes as long as writing.
    if (mostBytes <= limit) return { error: undefined, mostBytes };
    const { bytes: own, values, path } = measureJson(data, limit - earlierBytes);
    const bytes = earlierBytes + own;
    if (path === undefined) return { error: undefined, mostBytes: bytes };
    const byBytes = { unit: 'bytes', count: bytes, limit, path } as const;
    const byValues = { unit: 'values', count: values, limit: mostValues, path } as const;
    return { error: excessError(bytes > limit ? byBytes : byValues), mostBytes };
  }

  /** True if a result takes long to write and to send. */
  isLarge({ mostBytes = 0 }: OperationResult): boolean {
    return mostBytes > largeAnswerBytes;
  }

  /** Makes the text of a result that may be large, and takes room for it. Without room, an error replaces its data. */
  claimText(result: OperationResult, reader: Reader): OperationResult {
    const { mostBytes = 0 } = result;
    if (mostBytes <= mostUnclaimedBytes) return result;
    if (result.text === undefined && !this.makeRoomForText(result.data, mostBytes))
      return this.#dropped(result, overload());
    const text = textOf(result);
    if (text.length <= mostUnclaimedBytes) return result;
    const fits = this.room.claimFor(reader).resize(Buffer.byteLength(text));
    return fits ? result : this.#dropped(result, overload());
  }

  /**
   * Makes room for the text of data, which has at most `mostBytes` bytes; false if there is no room. Called before the
   * text is made, because a text that is made and then refused is megabytes of garbage.
   */
  makeRoomForText(data: unknown, mostBytes: number): boolean {
    return this.room.isFree(mostBytes) || this.room.makeRoom(measureJson(data, this.#options.maxAnswerBytes).bytes);
  }

  /** A result without its data. The data of a mutation is reduced to the effect (see `effectOf`). */
  #dropped(
    { prepared, data, errors = [], extensions, rateLimits }: OperationResult,
    error: GraphQLError,
  ): OperationResult {
    const reasons = toPublicErrors([error], this.#options);
    if (prepared?.operation.operation !== 'mutation' || data === undefined) {
      // Without data, the error determines the status.
      const isRefused = reasons.some(({ refusal }) => refusal !== undefined);
      return { errors: reasons, extensions, rateLimits, ...(!isRefused && { data: null }) };
    }
    return { data: effectOf(data), errors: [...errors.filter(isOfRoot), ...reasons], extensions, rateLimits };
  }
}

/** The size in bytes up to which an answer needs no room: most answers of that size are sent at once. */
const mostUnclaimedBytes = 2 ** 14;

/** The size in bytes above which an answer takes milliseconds to write. */
const largeAnswerBytes = 2 ** 18;

/** True for an error of a root field, such as a mutation that failed or was not sent. */
function isOfRoot({ path }: PublicError): boolean {
  return path?.length === 1;
}

function excessError({ unit, count, limit, path }: AnswerExcess): GraphQLError {
  const message = `The answer has ${count} ${unit} or more, the last of them at \`${path}\`, but the limit is ${limit}.`;
  return new GraphQLError(message, { extensions: { code: 'COST_LIMIT_EXCEEDED', [unit]: count, limit, path } });
}

/**
 * The error of an operation for which the upstream answered too much. `path` is the path of a field that still waited
 * for the upstream when the limit was exceeded.
 */
function bodyExcessError({ count, limit }: BodyExcess, path: GraphQLError['path']): GraphQLError {
  const names = path?.filter((key) => typeof key === 'string').join('.');
  const place = names === undefined ? '' : `, with what is read for \`${names}\``;
  const message = `What the upstream answered for the operation takes ${count} bytes of memory or more${place}, but the limit is ${limit}.`;
  const extensions = { code: 'COST_LIMIT_EXCEEDED', bytes: count, limit, ...(names !== undefined && { path: names }) };
  return new GraphQLError(message, { extensions });
}

/** The most bytes of a leaf that is kept when the data of a mutation is dropped: enough for ids and names. */
const mostKeptBytes = 1000;

/**
 * The part of the data of mutations that tells the client what was done. It has the short leaves and lists of each
 * payload, and the short leaves of the object in the payload. Everything else becomes null. A mutation that was not
 * sent is null already.
 */
function effectOf(data: unknown, levels = 3): unknown {
  if (isObject(data) && levels > 0)
    return Object.fromEntries(Object.entries(data).map(([name, member]) => [name, effectOf(member, levels - 1)]));
  const isKept = levels > 0 || typeof data !== 'object';
  const { bytes, path } = measureJson(data, mostKeptBytes);
  return isKept && path === undefined && bytes <= mostKeptBytes ? data : null;
}
