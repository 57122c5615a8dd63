import type { GraphQLFormattedError } from 'graphql';
import type { PartsFormat } from '../context.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import type { ObjectSelection } from '../look-ahead/selection-tree.ts';
import { UpstreamError } from '../rest/errors.ts';
import { isObject } from '../rest/values.ts';
import type { PreparedOperation } from './document.ts';
import type { PublicError } from './public-errors.ts';
import type { RateLimit } from './rate-limits.ts';

/** An answer that comes in parts. */
export interface AnswerParts {
  readonly format: PartsFormat;
  readonly texts: ReadableStream<string>;
  /** Resolves to the result of the operation once the last part has been made. */
  readonly finished: Promise<OperationResult>;
}

/** One answer of a subscription. */
export interface StreamMessage {
  readonly result: OperationResult;
  /** True if it is the last message and gives the reason why the stream ends. */
  readonly isLast: boolean;
}

/**
 * The result of an operation. An answer that was kept has only its text. For any other result without `data` and
 * without a `stream`, nothing was executed.
 */
export interface OperationResult {
  /** The answers of a subscription, which has no other result. They can be iterated once. */
  readonly stream?: AsyncIterable<StreamMessage>;
  readonly data?: unknown;
  readonly errors?: readonly PublicError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** The time for which the client may keep the answer, in seconds; undefined if it must not keep it. */
  readonly maxAge?: number;
  /** The time until which all reads of the result stay fresh, in milliseconds of `OperationsOptions.now`. */
  readonly freshUntil?: number | undefined;
  /** The rate limits of the surfaces that the operation called; undefined if there are none. */
  readonly rateLimits?: readonly RateLimit[] | undefined;
  /** The operation that was executed. It is not part of the answer. */
  readonly prepared?: PreparedOperation;
  /** The most bytes that the text of its data can have; undefined for results that are small in any case. */
  readonly mostBytes?: number;
  /** The parts, if the answer comes in parts. The first part has the `data` and `errors` of this result. */
  readonly parts?: AnswerParts;
  /** The JSON text, kept because one result may answer several requests; undefined until `textOf` has made it. */
  text?: string | undefined;
  /** The hash of the text for `ETag`; undefined until it is made. It is made only for answers that clients may keep. */
  tag?: string | undefined;
}

/** The deepest nesting of a leaf if an answer is written again, after the first attempt has overflowed the stack. */
const maximumDepth = 500;

/** The JSON text of a result, made once. */
export function textOf(result: OperationResult): string {
  result.text ??= stringify(result);
  return result.text;
}

/** Errors come first, because people look for them. */
function stringify({ errors, data, extensions, prepared }: OperationResult): string {
  const formattedErrors = errors?.map(formatted);
  try {
    return JSON.stringify({ errors: formattedErrors, data, extensions });
  } catch (error) {
    const found = [...(formattedErrors ?? [])];
    const pruned = withoutDeep(data, prepared, found, error);
    return JSON.stringify({ errors: found, data: pruned, extensions });
  }
}

/** The JSON text of the data of a result by itself. */
export function stringifyData({ data = null, prepared }: OperationResult): string {
  try {
    return JSON.stringify(data);
  } catch (error) {
    return JSON.stringify(withoutDeep(data, prepared, [], error));
  }
}

/** Data without the leaves that nest too deeply. Throws `error` if the writer of JSON failed for another reason. */
function withoutDeep(
  data: unknown,
  prepared: PreparedOperation | undefined,
  errors: GraphQLFormattedError[],
  error: unknown,
): unknown {
  if (!(error instanceof RangeError) || prepared === undefined) throw error;
  const root = rootOf(prepared, undefined);
  return prune(data, root === undefined ? [] : [root], [], errors);
}

type Path = readonly (string | number)[];

/** Puts null in the place of each leaf that the upstream has nested too deeply, with an error at its path. */
function prune(
  value: unknown,
  selections: readonly ObjectSelection[],
  path: Path,
  errors: GraphQLFormattedError[],
): unknown {
  if (selections.length === 0) {
    if (!isDeeperThan(value, maximumDepth)) return value;
    const { message, code } = new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    errors.push({ message, path, extensions: { code } });
    return null;
  }
  if (Array.isArray(value)) return value.map((item, index) => prune(item, selections, [...path, index], errors));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    // Fields with the same response key have the same shape in all types that the object can have.
    const fields = selections.flatMap((selection) =>
      selection.fields.filter(({ responseKey }) => responseKey === name),
    );
    const below = fields.flatMap(({ possible }) => possible);
    return [name, prune(member, below, [...path, name], errors)];
  });
  return Object.fromEntries(members);
}

/** True if a value is nested deeper than `depth`. Walks level by level: a recursion could overflow the stack. */
function isDeeperThan(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let left = depth; level.length > 0; left -= 1) {
    if (left < 0) return true;
    level = level.flatMap((item): unknown[] => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

/** An error as answers have it. */
export function formatted({ message, locations, path, extensions }: PublicError): GraphQLFormattedError {
  return { message, ...(locations !== undefined && { locations }), ...(path !== undefined && { path }), extensions };
}
