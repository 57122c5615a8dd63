import { type DirectiveNode, type DocumentNode, GraphQLDeferDirective, Kind, type SelectionSetNode } from 'graphql';
import { memoize } from '../memoize.ts';
import { fragmentsOf, isIntrospection } from './selection-tree.ts';

/** The size of a document without a schema. A fragment counts each time it is spread, as it is executed each time. */
export interface DocumentMeasure extends Readonly<Counts> {
  readonly operations: number;
  readonly fragments: number;
}

/** The measures that are added up over the members of a selection set. */
const sums = [
  'aliases',
  'directives',
  'rootFields',
  // Fields and fragments at any depth.
  'selections',
] as const;

/** The measures that are the largest value among the members of a selection set. */
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

/**
 * Measures a document, which need not be valid. If it has several operations, the largest counts. Each selection set
 * and each fragment is read once, so that nested fragments cannot multiply the work.
 */
export const measureOf = memoize((document: DocumentNode): DocumentMeasure => {
  const fragments = fragmentsOf(document);
  const ofFragments = new Map<string, Readonly<Counts>>();
  const ofFragment = (name: string): Readonly<Counts> => {
    const known = ofFragments.get(name);
    if (known !== undefined) return known;
    // A fragment that spreads itself counts nothing there. Validation refuses such a fragment later.
    ofFragments.set(name, nothing);
    const counts = fragments[name] === undefined ? nothing : ofSet(fragments[name].selectionSet);
    ofFragments.set(name, counts);
    return counts;
  };
  const ofSet = ({ selections }: SelectionSetNode): Counts => {
    const total = { ...nothing };
    for (const node of selections) {
      total.selections += 1;
      for (const directive of node.directives ?? []) addDirective(total, directive);
      if (node.kind === Kind.FRAGMENT_SPREAD) add(total, ofFragment(node.name.value));
      else if (node.kind === Kind.INLINE_FRAGMENT) add(total, ofSet(node.selectionSet));
      else {
        const below = node.selectionSet === undefined ? nothing : ofSet(node.selectionSet);
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
  };
  const addDirective = (total: Counts, { name, arguments: given = [] }: DirectiveNode): void => {
    total.directives += 1;
    if (name.value !== GraphQLDeferDirective.name) return;
    for (const { value } of given) {
      if (value.kind !== Kind.STRING) continue;
      total.longestLabel = Math.max(total.longestLabel, Buffer.byteLength(JSON.stringify(value.value)));
    }
  };
  const most = { ...nothing };
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  for (const { selectionSet, directives = [] } of operations) {
    const counts = ofSet(selectionSet);
    counts.directives += directives.length;
    for (const name of [...sums, ...maxima]) most[name] = Math.max(most[name], counts[name]);
  }
  const counts = { operations: operations.length, fragments: Object.keys(fragments).length };
  return { ...most, ...counts };
});

function add(total: Counts, part: Readonly<Counts>): void {
  for (const name of sums) total[name] += part[name];
  for (const name of maxima) total[name] = Math.max(total[name], part[name]);
}
