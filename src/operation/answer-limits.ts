import { GraphQLError } from 'graphql';
import type { AnswerExcess } from '../answer/answer-counter.ts';
import type { BodyExcess } from '../rest/operation-deadline.ts';
import { isObject } from '../rest/values.ts';
import { measureJson } from './answer-bytes.ts';

/** The error that replaces data that was dropped. */
export function excessError({ unit, count, limit, path }: AnswerExcess): GraphQLError {
  const message = `The answer has ${count} ${unit} or more, the last of them at \`${path}\`, but the limit is ${limit}.`;
  return new GraphQLError(message, { extensions: { code: 'COST_LIMIT_EXCEEDED', [unit]: count, limit, path } });
}

/**
 * The error that replaces data that was dropped because too much was read for it. `path` is the path of a field that
 * was waiting for a read when the limit was reached; undefined if none is known.
 */
export function bodyExcessError({ count, limit }: BodyExcess, path: GraphQLError['path']): GraphQLError {
  const names = path?.filter((key) => typeof key === 'string').join('.');
  const place = names === undefined ? '' : `, with what is read for \`${names}\``;
  const message = `What the upstream answered for the operation takes ${count} bytes of memory or more${place}, but the limit is ${limit}.`;
  const extensions = { code: 'COST_LIMIT_EXCEEDED', bytes: count, limit, ...(names !== undefined && { path: names }) };
  return new GraphQLError(message, { extensions });
}

/** The longest text that is kept of a mutation's payload when data is dropped: enough for ids and names. */
const longestKept = 1000;

/**
 * The short leaves of each payload of a mutation and of the object in it, so that a client still learns the effect.
 * Everything that was read after the mutation is dropped. A mutation that was not sent is null.
 */
export function effectOf(data: unknown, levels = 3): unknown {
  if (isObject(data) && levels > 0)
    return Object.fromEntries(Object.entries(data).map(([name, member]) => [name, effectOf(member, levels - 1)]));
  const isKept = levels > 0 || typeof data !== 'object';
  return isKept && measureJson(data, longestKept).path === undefined ? data : null;
}
