import type { GraphQLObjectType } from 'graphql';
import type { Selecting } from '../look-ahead/selection.ts';

/** Remembers what is worked out for objects of a type and for what nodes select on them, for as long as the nodes live. */
export class Remembered<T> {
  readonly #known = new WeakMap<object, Map<GraphQLObjectType, T>>();

  /** What is remembered for these nodes; `find` works it out the first time. Nodes in a list are known by the list. */
  of(type: GraphQLObjectType, nodes: readonly Selecting[], find: () => T): T {
    const [node] = nodes;
    const key = node === undefined || nodes.length > 1 ? nodes : node;
    const byType = this.#known.get(key) ?? new Map<GraphQLObjectType, T>();
    const found = byType.get(type) ?? find();
    if (byType.size === 0) this.#known.set(key, byType);
    byType.set(type, found);
    return found;
  }
}
