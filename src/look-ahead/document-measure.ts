import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLDeferDirective,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { memoize } from '../memoize.ts';
import { fragmentsOf, isIntrospection } from './selection-tree.ts';

/**
 * The size of a document under any schema. A fragment counts each time it is spread, because it is executed each time.
 */
export interface DocumentMeasure extends Readonly<Counts> {
  readonly operations: number;
  readonly fragments: number;
  /** The variables that decide whether a fragment is deferred. */
  readonly deferVariables: readonly string[];
}

/** The sizes of a selection set that add up over its members. */
const sums = [
  'aliases',
  'directives',
  'rootFields',
  // Fields and fragments at any depth.
  'selections',
] as const;

/** The sizes of a selection set that its largest member decides. */
const maxima = [
  // Nesting of fields, without introspection.
  'depth',
  // Nesting of fields below `__schema` and `__type`.
  'introspectionDepth',
  // Characters of the longest path of response keys.
  'longestPath',
  // Bytes of the longest label of `@defer`, as JSON.
  'longestLabel',
] as const;

/** The size of one selection set with its fragments spread. */
type Counts = Record<(typeof sums)[number] | (typeof maxima)[number], number>;

const nothing: Readonly<Counts> = {
  ...{ aliases: 0, directives: 0, rootFields: 0, selections: 0 },
  ...{ depth: 0, introspectionDepth: 0, longestPath: 0, longestLabel: 0 },
};

/** Measures a document, which need not be valid. If it has several operations, the largest counts. */
export const measureOf = memoize((document: DocumentNode): DocumentMeasure => new Measuring(document).measure());

/** Reads each selection set and each fragment once, so that nested fragments cannot multiply the work. */
class Measuring {
  readonly #document: DocumentNode;
  readonly #ofFragments = new Map<string, Readonly<Counts>>();
  readonly #deferVariables = new Set<string>();

  constructor(document: DocumentNode) {
    this.#document = document;
  }

  measure(): DocumentMeasure {
    const operations = this.#document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    const most = { ...nothing };
    for (const operation of operations) {
      const counts = this.#ofOperation(operation);
      for (const name of [...sums, ...maxima]) most[name] = Math.max(most[name], counts[name]);
    }
    const fragments = Object.keys(fragmentsOf(this.#document)).length;
    return { ...most, operations: operations.length, fragments, deferVariables: [...this.#deferVariables] };
  }

  #ofOperation({ selectionSet, directives = [] }: OperationDefinitionNode): Counts {
    const counted = this.#ofSet(selectionSet);
    return { ...counted, directives: counted.directives + directives.length };
  }

  #ofFragment(name: string): Readonly<Counts> {
    const known = this.#ofFragments.get(name);
    if (known !== undefined) return known;
    // A fragment that spreads itself counts nothing there; validation refuses it.
    this.#ofFragments.set(name, nothing);
    const fragment = fragmentsOf(this.#document)[name];
    const counts = fragment === undefined ? nothing : this.#ofSet(fragment.selectionSet);
    this.#ofFragments.set(name, counts);
    return counts;
  }

  #ofSet({ selections }: SelectionSetNode): Counts {
    const total: Counts = { ...nothing };
    for (const node of selections) {
      total.selections += 1;
      for (const directive of node.directives ?? []) this.#addDirective(total, directive);
      if (node.kind === Kind.FRAGMENT_SPREAD) add(total, this.#ofFragment(node.name.value));
      else if (node.kind === Kind.INLINE_FRAGMENT) add(total, this.#ofSet(node.selectionSet));
      else {
        const below = node.selectionSet === undefined ? nothing : this.#ofSet(node.selectionSet);
        const introspects = isIntrospection(node.name.value);
        const deepest = Math.max(below.depth, below.introspectionDepth) + 1;
        add(total, {
          ...below,
          rootFields: 1,
          aliases: below.aliases + (node.alias === undefined ? 0 : 1),
          depth: introspects ? 1 : below.depth + 1,
          introspectionDepth: introspects ? deepest : below.introspectionDepth,
          longestPath: below.longestPath + (node.alias ?? node.name).value.length,
        });
      }
    }
    return total;
  }

  #addDirective(total: Counts, { name, arguments: given = [] }: DirectiveNode): void {
    total.directives += 1;
    if (name.value !== GraphQLDeferDirective.name) return;
    for (const { value } of given) {
      if (value.kind === Kind.VARIABLE) this.#deferVariables.add(value.name.value);
      if (value.kind !== Kind.STRING) continue;
      total.longestLabel = Math.max(total.longestLabel, Buffer.byteLength(JSON.stringify(value.value)));
    }
  }
}

function add(total: Counts, part: Readonly<Counts>): void {
  for (const name of sums) total[name] += part[name];
  for (const name of maxima) total[name] = Math.max(total[name], part[name]);
}
