import type { GraphQLObjectType } from 'graphql';

/** What was worked out for objects of a type and for what nodes of a document select on them, while the nodes live. */
export class Remembered<T> {
  readonly #known = new WeakMap<object, Map<GraphQLObjectType, T>>();
  /** What was asked for last: the objects of one list ask for the same, one after the other. */
  #last: { readonly type: GraphQLObjectType; readonly key: object; readonly value: T } | undefined;

  /** What is remembered for one node, or for a list of nodes that is always the same. */
  get(type: GraphQLObjectType, key: object): T | undefined {
    const last = this.#last;
    if (last !== undefined && last.key === key && last.type === type) return last.value;
    const value = this.#known.get(key)?.get(type);
    if (value !== undefined) this.#last = { type, key, value };
    return value;
  }

  set(type: GraphQLObjectType, key: object, value: T): void {
    this.#last = { type, key, value };
    const byType = this.#known.get(key);
    if (byType === undefined) this.#known.set(key, new Map([[type, value]]));
    else byType.set(type, value);
  }

  /** What is remembered for nodes; `find` works it out the first time. Several nodes are known by their list. */
  of(type: GraphQLObjectType, nodes: readonly object[], find: () => T): T {
    const [node] = nodes;
    const key = node === undefined || nodes.length > 1 ? nodes : node;
    const known = this.get(type, key);
    if (known !== undefined) return known;
    const found = find();
    this.set(type, key, found);
    return found;
  }
}
