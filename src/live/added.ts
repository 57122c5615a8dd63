import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';

/** One message of a tail: rows that were not sent before. */
export interface Added {
  readonly list: ListRef;
  /** Oldest first. */
  readonly rows: readonly Row[];
  /** Where a tail goes on that is resumed behind this message. */
  readonly place: Position;
  /** Whether rows before these were left out: more had come than one poll reads. */
  readonly gap: boolean;
  /** How many characters were read from the upstream for it. */
  readonly received: number;
}
