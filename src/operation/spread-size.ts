import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/**
 * How many selections a valid document has where each fragment counts as often as it is spread. Fragments of fragments
 * make it astronomic in a few lines, so each is counted once and its number is remembered.
 */
export function spreadSize({ definitions }: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const known = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const size = known.get(name) ?? ofSet(fragments.get(name)?.selectionSet);
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
  for (const definition of definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) size += ofSet(definition.selectionSet);
  return size;
}
