import type { Existence } from '../look-ahead/needs.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { Objects } from './objects.ts';

/** Objects in the answer: where they are, and what is selected on them. */
export interface SelectedObjects extends Pick<SelectedField, 'nodes'> {
  readonly objects: Objects;
  readonly path: string;
  readonly known: Known;
}

/** How the objects of a place become known. */
export type Known =
  | Existence
  // They come with a row.
  | 'listed'
  // They are what a write answered, or are read by their key if it answered something else.
  | 'answered'
  // Only as the organization of plugins: their rows tell its name.
  | 'named';
