import { GraphQLError } from 'graphql';
import type { AnswerCounter, AnswerExcess, ObjectWeight } from '../answer/answer-counter.ts';
import type { BodyExcess } from '../rest/operation-deadline.ts';
import { isObject } from '../rest/values.ts';
import { measureJson, mostValues } from './answer-bytes.ts';

/**
 * An executed operation: its data, the counts of its answer, and the number of characters that the upstream sent for
 * it.
 */
export interface Executed {
  readonly data: unknown;
  readonly answer: AnswerCounter;
  readonly root: ObjectWeight;
  readonly received: number;
  /** Bytes of the previous parts, if the data is a part of an answer. */
  readonly written?: number | undefined;
}

/** Findings about data. */
export interface Weighed {
  /** The limit that it exceeds. */
  readonly excess: AnswerExcess | undefined;
  /** The most bytes that its text can have. */
  readonly mostBytes: number;
}

/** Weighs data. Data is measured only if it may exceed the limit, because measuring takes as long as writing. */
export function weigh({ data, answer, root, received, written = 0 }: Executed, limit: number): Weighed {
  const mostBytes = answer.mostBytes(root, received);
  if (answer.excess !== undefined || mostBytes <= limit) return { excess: answer.excess, mostBytes };
  const { bytes: own, values, path } = measureJson(data, limit - written);
  const bytes = written + own;
  if (path === undefined) return { excess: undefined, mostBytes: bytes };
  if (bytes > limit) return { excess: { unit: 'bytes', count: bytes, limit, path }, mostBytes };
  return { excess: { unit: 'values', count: values, limit: mostValues, path }, mostBytes };
}

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
export function effectOf(data: unknown): unknown {
  return pruned(data, 2);
}

/** The short leaves of an object and of the objects below it, `levels` deep. */
function pruned(value: unknown, levels: number): unknown {
  if (!isObject(value)) return isShort(value) ? value : null;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    levels > 0
      ? pruned(member, levels - 1)
      : isObject(member) || Array.isArray(member) || !isShort(member)
        ? null
        : member,
  ]);
  return Object.fromEntries(members);
}

function isShort(value: unknown): boolean {
  return measureJson(value, longestKept).path === undefined;
}
