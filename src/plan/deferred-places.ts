import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { isDeferred } from '../look-ahead/deferral.ts';
import type { Selecting, SelectionScope } from '../look-ahead/selection.ts';
import { type AnswerSizeRequest, sumOverObjects } from './answer-size.ts';
import { introspectionSize } from './introspection-size.ts';

/**
 * So many deferred fragments an answer in parts has at most: ten thousand of them hold the event loop for most of a second,
 * and a hundred thousand for half a minute.
 */
export const mostDeferredPlaces = 5000;

/** So many bytes their labels and paths have at most, which are written for each of them; an answer as a whole has none. */
export const mostNameBytes = 4 * 2 ** 20;

/** What is looked at: an operation of a valid document. */
export interface DeferredPlacesRequest extends AnswerSizeRequest {
  /** With `@defer`. */
  readonly document: DocumentNode;
}

/** Whether an answer in parts stays within what its deferred fragments may take. */
export function defersLittle(request: DeferredPlacesRequest): boolean {
  const places = deferredPlacesOf(request);
  return places <= mostDeferredPlaces && places * longestNameOf(request) <= mostNameBytes;
}

/**
 * How many deferred fragments an answer has at most, each as often as there are objects with it. graphql's executors, and the
 * answer, take more time and memory for each of them than for an object. A list whose length only the upstream's answer says
 * counts as one that is too long.
 */
export function deferredPlacesOf(request: DeferredPlacesRequest): number {
  const { fragments, variableValues = { sources: {}, coerced: {} } } = request;
  const scope = { schema: request.schema, fragments, variableValues };
  const inFragments = new Map<string, number>();
  const countAt = (nodes: readonly Selecting[]): number =>
    nodes.reduce((sum, { selectionSet }) => sum + countIn(selectionSet, scope, inFragments), 0);
  const sized = { ...request, openListLength: mostDeferredPlaces + 1 };
  return sumOverObjects(sized, countAt) + introspectionSize(request).objects * usesIn(request.document);
}

/** The deferred fragments of a selection, those within other fragments included. Each named fragment is looked into once. */
function countIn(set: SelectionSetNode | undefined, scope: SelectionScope, inFragments: Map<string, number>): number {
  let count = 0;
  for (const node of set?.selections ?? []) {
    if (node.kind === 'Field') continue;
    if (isDeferred(node, scope)) count += 1;
    count +=
      node.kind === 'InlineFragment'
        ? countIn(node.selectionSet, scope, inFragments)
        : countInFragment(node.name.value, scope, inFragments);
  }
  return count;
}

function countInFragment(name: string, scope: SelectionScope, inFragments: Map<string, number>): number {
  const known = inFragments.get(name) ?? countIn(scope.fragments[name]?.selectionSet, scope, inFragments);
  inFragments.set(name, known);
  return known;
}

/** How often `@defer` stands in a document. */
function usesIn(document: DocumentNode): number {
  let uses = 0;
  visit(document, { Directive: ({ name }) => void (uses += name.value === GraphQLDeferDirective.name ? 1 : 0) });
  return uses;
}

/**
 * How many bytes the longest label and the longest path have together, without the places in lists: no deferred fragment of
 * the document is named by more.
 */
export function longestNameOf({ document, fragments }: Pick<DeferredPlacesRequest, 'document' | 'fragments'>): number {
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
