import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { type AnswerSizeRequest, sumOverObjects } from './answer-size.ts';

/**
 * So many deferred fragments an answer in parts has at most: ten thousand of them hold the event loop for most of a second,
 * and a hundred thousand for half a minute.
 */
export const mostDeferredPlaces = 5000;

/** So many bytes their labels and paths have at most, which are written for each of them; an answer as a whole has none. */
export const mostNameBytes = 4 * 2 ** 20;

/** An operation of a valid document that is looked at. */
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
export function deferredPlacesOf(request: AnswerSizeRequest): number {
  const most = mostDeferredPlaces + 1;
  const sized = { ...request, openListLength: most };
  // How many objects an answer has that reads the schema, only the answer says.
  return sumOverObjects(sized, ({ deferrals, introspects }) => deferrals + (introspects ? most : 0));
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
