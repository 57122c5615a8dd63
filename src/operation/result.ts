import type { PartsFormat } from '../context.ts';
import type { BudgetStatus } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import type { PublicError } from './errors.ts';

/** An answer that comes in parts. */
export interface AnswerParts {
  readonly format: PartsFormat;
  readonly texts: ReadableStream<string>;
  /** Resolves to the result of the operation once the last part has been made. */
  readonly over: Promise<OperationResult>;
}

/** One answer of a subscription. */
export interface StreamMessage {
  readonly result: OperationResult;
  /** True if it is the last message and gives the reason why the stream ends. */
  readonly isLast: boolean;
}

/** The result of an operation. Nothing was executed if there is no `data`. */
export interface OperationResult {
  /** The answers of a subscription, which has no other result. They can be iterated once. */
  readonly stream?: AsyncIterable<StreamMessage>;
  readonly data?: unknown;
  readonly errors?: readonly PublicError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The time for which the client may keep the answer, in seconds; undefined if it may not keep it. */
  readonly maxAge?: number;
  /** The time until which all reads of the result stay fresh, in milliseconds by the clock of kept answers. */
  readonly freshUntil?: number | undefined;
  /** The state of the budgets of REST calls that it used; undefined if calls are not counted. */
  readonly rateLimits?: readonly BudgetStatus[] | undefined;
  /** The operation that was executed. It is not part of the answer. */
  readonly prepared?: PreparedOperation;
  /** The most bytes that the text of its data can have; undefined for results that are small in any case. */
  readonly mostBytes?: number;
  /** All parts of an answer in parts; the first part has these `data` and `errors`. */
  readonly parts?: AnswerParts;
  /** The JSON text, kept once it has been made, because one result may answer several requests. */
  text?: string | undefined;
  /** The hash of the text for `ETag`. Undefined until it is made, and if HTTP caches may not keep the answer. */
  tag?: string | undefined;
}
