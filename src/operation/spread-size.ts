import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../look-ahead/selection.ts';

/**
 * How many selections a valid document has if each fragment counts as often as it is spread. Fragments of fragments make it
 * astronomic in a few lines, so each is counted once and its number is remembered.
 */
export function spreadSize(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const known = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const size = known.get(name) ?? ofSet(fragments[name]?.selectionSet);
    known.set(name, size);
    return size;
  };
  const ofSet = (set: SelectionSetNode | undefined): number => {
    let size = 0;
    for (const node of set?.selections ?? [])
      size += 1 + (node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSet(node.selectionSet));
    return size;
  };
  let size = 0;
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) size += ofSet(definition.selectionSet);
  return size;
}
