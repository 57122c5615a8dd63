import type { RestOperation, RestOperationId } from '../rest/rest-operations.ts';
import type { PlannedObjects, Stage } from './objects.ts';

/** REST calls of one kind that an operation makes at one point of its run. */
export interface PlannedCall {
  readonly operation: RestOperationId;
  readonly method: RestOperation['method'];
  readonly path: string;
  readonly lower: number;
  readonly upper: number;
  /** The maximum number of rows that the calls ask for. */
  readonly rows: number;
  /** The wave of the calls, counted from 1. A call waits for a call of the previous wave. */
  readonly wave: number;
  readonly paths: readonly string[];
  readonly when?: Condition;
}

/** The case in which a planned call is made. Only the answers to other calls show if this is the case. */
export type Condition =
  // All relations of the object answer 404. Its row then decides whether the object exists.
  | 'absent'
  // A page of the list is read first, and lacks the wanted rows.
  | 'not in the page'
  // The answer of a write is something other than the object.
  | 'not in the answer'
  // The list does not end in its first page.
  | 'long list';

/** The objects of a group from index `from` up to, but not including, `to`. */
type IndexRange = Pick<PlannedObjects, 'from' | 'to'>;

function sizeOf({ from, to }: IndexRange): number {
  return to - from;
}

interface Entry {
  readonly endpoint: RestOperation;
  readonly stage: Stage;
  readonly lower: number;
  readonly upper: number;
  readonly rows: number;
  readonly paths: Iterable<string>;
  readonly when?: Condition | undefined;
}

/** The calls that are planned so far, and what they read. */
export class PlannedCalls {
  readonly #calls = new Map<string, PlannedCall>();
  /** The ranges of objects that are read, by the name of the read and the group of the objects. No two ranges touch. */
  readonly #read = new Map<string, readonly IndexRange[]>();

  get all(): PlannedCall[] {
    return [...this.#calls.values()];
  }

  /** Forgets what was read before a write. */
  forget(): void {
    this.#read.clear();
  }

  /** Marks a read of objects as planned. Returns the number of objects that were not yet marked for it. */
  markRead(name: string, { group, from, to, ownerCount }: PlannedObjects): number {
    const text = `${name} ${group}`;
    const ranges = this.#read.get(text) ?? [];
    const touched = ranges.filter((range) => range.from <= to && range.to >= from);
    const joined = {
      from: Math.min(from, ...touched.map((range) => range.from)),
      to: Math.max(to, ...touched.map((range) => range.to)),
    };
    this.#read.set(text, [...ranges.filter((range) => !touched.includes(range)), joined]);
    return ownerCount * touched.reduce((rest, range) => rest - sizeOf(range), sizeOf(joined));
  }

  add({ endpoint, stage, lower, upper, rows, paths, when }: Entry): void {
    if (upper === 0) return;
    const { id: operation, method, path } = endpoint;
    const places = [...new Set(paths)];
    const wave = stage.wave + 1;
    const text = `${operation} ${wave} ${when ?? ''} ${places.join()}`;
    const same = this.#calls.get(text);
    this.#calls.set(text, {
      operation,
      method,
      path,
      lower: lower + (same?.lower ?? 0),
      upper: upper + (same?.upper ?? 0),
      rows: rows + (same?.rows ?? 0),
      wave,
      paths: places,
      ...(when !== undefined && { when }),
    });
  }
}

/** The tasks of each wave of a run, in the order of the waves. */
export class Schedule {
  readonly #waves: (() => void)[][] = [];

  /** Adds a task, which gets the stage at which it runs. */
  at(stage: Stage, task: ((stage: Stage) => void) | undefined): void {
    if (task !== undefined) (this.#waves[stage.wave] ??= []).push(() => task(stage));
  }

  /** Runs every task. Before the first task and after each wave, `settle` turns what the tasks want into calls. */
  run(settle: () => void): void {
    settle();
    for (let wave = 0; wave < this.#waves.length; wave += 1) {
      const tasks = this.#waves[wave] ?? [];
      for (let index = 0; index < tasks.length; ) {
        for (; index < tasks.length; index += 1) tasks[index]?.();
        settle();
      }
    }
    this.#waves.length = 0;
  }
}
