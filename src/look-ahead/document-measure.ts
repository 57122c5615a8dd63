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
  readonly deferVariables: ReadonlySet<string>;
}

/** The size of one selection set with its fragments spread. */
interface Counts {
  aliases: number;
  directives: number;
  rootFields: number;
  selections: number;
  /** Nesting of fields, without introspection. */
  depth: number;
  /** Nesting of fields below `__schema` and `__type`. */
  introspectionDepth: number;
  /** Characters of the longest path of response keys. */
  longestPath: number;
  /** Bytes of the longest label of `@defer`, as JSON. */
  longestLabel: number;
}

const nothing: Readonly<Counts> = {
  aliases: 0,
  directives: 0,
  rootFields: 0,
  selections: 0,
  depth: 0,
  introspectionDepth: 0,
  longestPath: 0,
  longestLabel: 0,
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
    const counts = operations.map((operation) => this.#ofOperation(operation));
    const most = (read: (counted: Counts) => number): number => Math.max(0, ...counts.map(read));
    return {
      operations: operations.length,
      fragments: Object.keys(fragmentsOf(this.#document)).length,
      deferVariables: this.#deferVariables,
      aliases: most(({ aliases }) => aliases),
      directives: most(({ directives }) => directives),
      rootFields: most(({ rootFields }) => rootFields),
      selections: most(({ selections }) => selections),
      depth: most(({ depth }) => depth),
      introspectionDepth: most(({ introspectionDepth }) => introspectionDepth),
      longestPath: most(({ longestPath }) => longestPath),
      longestLabel: most(({ longestLabel }) => longestLabel),
    };
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
  total.aliases += part.aliases;
  total.directives += part.directives;
  total.rootFields += part.rootFields;
  total.selections += part.selections;
  total.depth = Math.max(total.depth, part.depth);
  total.introspectionDepth = Math.max(total.introspectionDepth, part.introspectionDepth);
  total.longestPath = Math.max(total.longestPath, part.longestPath);
  total.longestLabel = Math.max(total.longestLabel, part.longestLabel);
}
