import type { PartsFormat } from '../context.ts';
import type { BudgetStatus } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import type { PublicError } from './errors.ts';

/** An answer that comes in parts. */
export interface AnswerParts {
  readonly format: PartsFormat;
  /** The JSON text of each part. */
  readonly texts: ReadableStream<string>;
  /** Resolves to what became of the operation once the last part has been made. */
  readonly over: Promise<OperationResult>;
}

/** One of the answers that a subscription gives. */
export interface StreamMessage {
  readonly result: OperationResult;
  /** True if it says why the stream ends. */
  readonly isLast: boolean;
}

/** The result of an operation. Without `data` nothing was executed. */
export interface OperationResult {
  /** The answers of a subscription, of which it has no other; iterated once. */
  readonly stream?: AsyncIterable<StreamMessage>;
  readonly data?: unknown;
  readonly errors?: readonly PublicError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The time for which the client may cache the answer, in seconds; undefined: not at all. */
  readonly maxAge?: number;
  /** For how long all stays fresh that it was made of, in milliseconds; undefined if nothing is cached. */
  readonly freshMs?: number | undefined;
  /** The state of the budgets of REST calls that it has touched; undefined if nothing is counted. */
  readonly rateLimits?: readonly BudgetStatus[] | undefined;
  /** The operation that was executed; it is not answered. */
  readonly prepared?: PreparedOperation;
  /** The most bytes that the text of its data can have; undefined for results that are small in any case. */
  readonly mostBytes?: number;
  /** If it comes in parts: all of them, of which the first has these `data` and `errors`. */
  readonly parts?: AnswerParts;
  /** Its JSON text, kept once it is made: one result may be the answer of many. */
  text?: string | undefined;
}
