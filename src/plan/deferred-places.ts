import type { DocumentNode } from 'graphql';
import { measureOf } from '../look-ahead/document-measure.ts';
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

/** True if an answer in parts stays within what its deferred fragments may take. */
export function defersLittle(request: DeferredPlacesRequest): boolean {
  const places = deferredPlacesOf(request);
  return places <= mostDeferredPlaces && places * longestNameOf(request.document) <= mostNameBytes;
}

/**
 * The most deferred fragments that an answer has, each as often as there are objects with it. graphql's executors, and the
 * answer, take more time and memory for each of them than for an object. A list whose length only the upstream's answer says
 * counts as one that is too long.
 */
export function deferredPlacesOf(request: AnswerSizeRequest): number {
  const most = mostDeferredPlaces + 1;
  const sized = { ...request, openListLength: most };
  // Only the answer says how many objects of the schema it has.
  return sumOverObjects(sized, ({ deferrals, introspects }) => deferrals + (introspects ? most : 0));
}

/**
 * The bytes of the longest label and the longest path together, without the places in lists: no deferred fragment of the
 * document is named by more.
 */
export function longestNameOf(document: DocumentNode): number {
  const { longestLabel, longestPath } = measureOf(document);
  return longestLabel + longestPath;
}
