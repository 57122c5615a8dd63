import {
  type DocumentNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf, isIntrospection, type OperationScope } from '../look-ahead/selection-tree.ts';
import { requestError } from './request-error.ts';

/** What a document may hold at most. Fragments count as often as they are spread: that is what is executed. */
export interface DocumentLimits {
  /** Of its text, as UTF-8. */
  readonly bytes: number;
  /** Of the arguments of one field, variables included, as JSON. */
  readonly argumentBytes: number;
  readonly tokens: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Nesting of fields, introspection apart. */
  readonly depth: number;
  /** Nesting of fields below `__schema` and `__type`: the query of GraphiQL itself needs 15. */
  readonly introspectionDepth: number;
  readonly fragments: number;
  readonly operations: number;
}

/** Limits that are found by walking a document; bytes and tokens are counted before, arguments with the variables. */
type Measure = Exclude<keyof DocumentLimits, 'bytes' | 'tokens' | 'argumentBytes'>;

const names: Record<Measure, string> = {
  aliases: 'aliases',
  rootFields: 'root fields',
  directives: 'directives',
  depth: 'levels of nesting',
  introspectionDepth: 'levels of nesting in introspection',
  fragments: 'fragments',
  operations: 'operations',
};

/** An error for each limit that the document exceeds, naming the limit and what was found. */
export function limitErrors(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const measures = measure(document);
  return measures
    .filter(({ name, found }) => found > limits[name])
    .map(({ name, found }) => limitError(names[name], limits[name], found));
}

/** The error of a document that exceeds a limit. */
export function limitError(what: string, limit: number, found: number | string): GraphQLError {
  const message = `The document exceeds a limit: at most ${limit} ${what} are allowed, but it has ${found}.`;
  return requestError('largeDocument', message);
}

/** What one selection set amounts to with its fragments spread. */
interface SelectionCounts {
  aliases: number;
  directives: number;
  depth: number;
  introspectionDepth: number;
  fields: number;
}

const nothing: Readonly<SelectionCounts> = { aliases: 0, directives: 0, depth: 0, introspectionDepth: 0, fields: 0 };

function measure(document: DocumentNode): { readonly name: Measure; readonly found: number }[] {
  const fragments = fragmentsOf(document);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const counts = operations.map(createCounter(fragments));
  const most = (read: (counted: SelectionCounts) => number): number => Math.max(0, ...counts.map(read));
  return [
    { name: 'operations', found: operations.length },
    { name: 'fragments', found: Object.keys(fragments).length },
    { name: 'rootFields', found: most(({ fields }) => fields) },
    { name: 'depth', found: most(({ depth }) => depth) },
    { name: 'introspectionDepth', found: most(({ introspectionDepth }) => introspectionDepth) },
    { name: 'aliases', found: most(({ aliases }) => aliases) },
    { name: 'directives', found: most(({ directives }) => directives) },
  ];
}

/** Counts selection sets. Each fragment is counted once, so that fragments of fragments cannot multiply the work. */
function createCounter(fragments: OperationScope['fragments']): (node: OperationDefinitionNode) => SelectionCounts {
  const known = new Map<string, Readonly<SelectionCounts>>();
  const ofFragment = (name: string): Readonly<SelectionCounts> => {
    const counted = known.get(name);
    if (counted !== undefined) return counted;
    // A fragment that spreads itself counts nothing there; validation refuses it.
    known.set(name, nothing);
    const fragment = fragments[name];
    const found = fragment === undefined ? nothing : ofSet(fragment.selectionSet);
    known.set(name, found);
    return found;
  };
  const ofSet = ({ selections }: SelectionSetNode): SelectionCounts => {
    const total: SelectionCounts = { ...nothing };
    for (const node of selections) {
      total.directives += node.directives?.length ?? 0;
      if (node.kind !== Kind.FIELD) {
        add(total, node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSet(node.selectionSet));
        continue;
      }
      const below = node.selectionSet === undefined ? nothing : ofSet(node.selectionSet);
      const introspects = isIntrospection(node.name.value);
      const deepest = Math.max(below.depth, below.introspectionDepth) + 1;
      add(total, {
        ...below,
        fields: 1,
        aliases: below.aliases + (node.alias === undefined ? 0 : 1),
        depth: introspects ? 1 : below.depth + 1,
        introspectionDepth: introspects ? deepest : below.introspectionDepth,
      });
    }
    return total;
  };
  return ({ selectionSet, directives = [] }) => {
    const counted = ofSet(selectionSet);
    return { ...counted, directives: counted.directives + directives.length };
  };
}

function add(total: SelectionCounts, part: Readonly<SelectionCounts>): void {
  total.aliases += part.aliases;
  total.directives += part.directives;
  total.fields += part.fields;
  total.depth = Math.max(total.depth, part.depth);
  total.introspectionDepth = Math.max(total.introspectionDepth, part.introspectionDepth);
}
