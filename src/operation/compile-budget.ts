import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';

/** Milliseconds of each second that may be spent on compiling, one compilation beyond them included. */
const msPerSecond = 100;

/**
 * Bounds how long compiling operations keeps the event loop: code pays for itself only if an operation comes again and
 * again, and a client that sends thousands of documents twice each must not stop all others.
 */
export class CompileBudget {
  readonly #now: () => number;
  #secondBegan = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `compile` at once, or answers false if nothing is left of this second. */
  spend(compile: () => void): boolean {
    const startedAt = this.#now();
    if (startedAt - this.#secondBegan >= 1000) {
      this.#secondBegan = startedAt;
      this.#spentMs = 0;
    }
    if (this.#spentMs >= msPerSecond) return false;
    compile();
    this.#spentMs += this.#now() - startedAt;
    return true;
  }
}

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
