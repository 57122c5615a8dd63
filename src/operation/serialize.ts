import type { GraphQLFormattedError } from 'graphql';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { type ObjectSelection } from '../look-ahead/selection-tree.ts';
import { UpstreamError } from '../rest/errors.ts';
import { isObject } from '../rest/values.ts';
import type { PublicError } from './errors.ts';
import type { OperationResult } from './result.ts';

/** The deepest nesting of a JSON value in an answer: writers and readers of JSON recurse. */
const maximumDepth = 500;

/** The JSON text of a result. Errors come first, because people look for them. */
export function stringifyResult({ errors, data, extensions, prepared }: OperationResult): string {
  const formattedErrors = errors?.map(formatted);
  try {
    return JSON.stringify({ errors: formattedErrors, data, extensions });
  } catch (error) {
    if (!(error instanceof RangeError) || prepared === undefined) throw error;
    const found = [...(formattedErrors ?? [])];
    const root = rootOf(prepared, undefined);
    const pruned = prune(data, root === undefined ? [] : [root], [], found);
    return JSON.stringify({ errors: found, data: pruned, extensions });
  }
}

/** The JSON text of the data of a result by itself. */
export function stringifyData({ data = null, prepared }: OperationResult): string {
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (!(error instanceof RangeError) || prepared === undefined) throw error;
    const root = rootOf(prepared, undefined);
    return JSON.stringify(prune(data, root === undefined ? [] : [root], [], []));
  }
}

type Path = readonly (string | number)[];

/** Replaces leaves that the upstream nested too deeply by null, with an error at their path. */
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
    // The type of the object does not matter here, because fields with the same response key have the same shape if
    // both can apply.
    const fields = selections.flatMap((selection) =>
      selection.fields.filter(({ responseKey }) => responseKey === name),
    );
    const below = fields.flatMap(({ possible }) => possible);
    return [name, prune(member, below, [...path, name], errors)];
  });
  return Object.fromEntries(members);
}

/** True if a value is nested deeper than `depth`. Walks level by level, because a recursion could overflow the stack. */
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
