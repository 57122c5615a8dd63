import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { SelectionScope } from '../look-ahead/selection.ts';

/** What is measured: a valid document, and its fragments by name. */
export interface DeferredNamesRequest extends Pick<SelectionScope, 'fragments'> {
  readonly document: DocumentNode;
}

/**
 * How many bytes the longest label and the longest path have together, without the places in lists: no deferred fragment of
 * the document is named by more.
 */
export function longestNameOf({ document, fragments }: DeferredNamesRequest): number {
  const known = new Map<string, number>();
  const paths = document.definitions.map((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? longestPath(definition.selectionSet, fragments, known) : 0,
  );
  return longestLabel(document) + Math.max(0, ...paths);
}

/** The longest way down through response keys. Each named fragment is looked into once. */
function longestPath(
  set: SelectionSetNode | undefined,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  known: Map<string, number>,
): number {
  const lengths = (set?.selections ?? []).map((node) => {
    if (node.kind === Kind.INLINE_FRAGMENT) return longestPath(node.selectionSet, fragments, known);
    if (node.kind === Kind.FIELD)
      return (node.alias ?? node.name).value.length + longestPath(node.selectionSet, fragments, known);
    const name = node.name.value;
    const length = known.get(name) ?? longestPath(fragments[name]?.selectionSet, fragments, known);
    known.set(name, length);
    return length;
  });
  return Math.max(0, ...lengths);
}

/** The most bytes of a label of `@defer`, as JSON. */
function longestLabel(document: DocumentNode): number {
  let longest = 0;
  visit(document, {
    Directive: ({ name, arguments: given = [] }) => {
      if (name.value !== GraphQLDeferDirective.name) return;
      for (const { value } of given)
        if (value.kind === Kind.STRING) longest = Math.max(longest, Buffer.byteLength(JSON.stringify(value.value)));
    },
  });
  return longest;
}
