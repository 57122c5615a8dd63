import type { DocumentNode, GraphQLFormattedError, SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { UpstreamError } from '../rest/errors.ts';
import { isObject } from '../rest/values.ts';
import type { PublicError } from './errors.ts';
import type { OperationResult } from './result.ts';

/** Deepest JSON value that is answered: writers and readers of JSON recurse. */
const maximumDepth = 500;

/** The JSON text of a result. Errors come first: they are what a person looks for. */
export function stringifyResult({ errors, data, extensions, document }: OperationResult): string {
  const formattedErrors = errors?.map(formatted);
  try {
    return JSON.stringify({ errors: formattedErrors, data, extensions });
  } catch (error) {
    if (!(error instanceof RangeError) || document === undefined) throw error;
    const found = [...(formattedErrors ?? [])];
    const pruned = prune(data, shapeOf(document), [], found);
    return JSON.stringify({ errors: found, data: pruned, extensions });
  }
}

/** The response keys that a document can answer; a leaf has no keys below it. */
interface Shape {
  readonly below: Map<string, Shape>;
}

type Path = readonly (string | number)[];

/** Data without leaves that an upstream nested without end: they become null, with an error at their path. */
function prune(value: unknown, shape: Shape, path: Path, errors: GraphQLFormattedError[]): unknown {
  if (shape.below.size === 0) {
    if (!isDeeperThan(value, maximumDepth)) return value;
    const { message, code } = new UpstreamError('UPSTREAM_INVALID_RESPONSE');
    errors.push({ message, path, extensions: { code } });
    return null;
  }
  if (Array.isArray(value)) return value.map((item, index) => prune(item, shape, [...path, index], errors));
  if (!isObject(value)) return value;
  const pruned = Object.entries(value).map(([name, member]) => {
    const below = shape.below.get(name) ?? { below: new Map() };
    return [name, prune(member, below, [...path, name], errors)];
  });
  return Object.fromEntries(pruned);
}

/** Type conditions do not matter: fields that share a response key have the same shape if both can apply. */
function shapeOf(document: DocumentNode): Shape {
  const root: Shape = { below: new Map() };
  const fragments = fragmentsOf(document);
  const collect = (set: SelectionSetNode | undefined, shape: Shape): void => {
    for (const node of set?.selections ?? []) {
      if (node.kind === 'FragmentSpread') collect(fragments[node.name.value]?.selectionSet, shape);
      else if (node.kind === 'InlineFragment') collect(node.selectionSet, shape);
      else {
        const key = node.alias?.value ?? node.name.value;
        const below = shape.below.get(key) ?? { below: new Map() };
        shape.below.set(key, below);
        collect(node.selectionSet, below);
      }
    }
  };
  for (const definition of document.definitions)
    if (definition.kind === 'OperationDefinition') collect(definition.selectionSet, root);
  return root;
}

/** Walks level by level: a recursion would overflow just where this is needed. */
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
