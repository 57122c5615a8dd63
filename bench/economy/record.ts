/** The measurements of a day. */
import { ageOfAll, type History, type State } from './history.ts';

/** Figures of one contender. Times in seconds of the day. */
export interface Figures {
  readonly callsPerMinute: number;
  /** Calls that the service refused with 429. */
  readonly throttled: number;
  readonly operations: number;
  /** Operations that were not answered, or not as a whole. */
  readonly refused: number;
  /** For how long answers had been out of date when they came: half of them, and all but one in a hundred, at most. */
  readonly ageP50: number;
  readonly ageP99: number;
  /** The same of what was on open pages, at any time. */
  readonly screenP50: number;
  readonly screenP99: number;
  /** Share of the time of open pages in which they showed nothing, because none of their reads had been answered. */
  readonly blank: number;
  /** Edits that were done, and answers to their authors after that which did not show them. */
  readonly edits: number;
  readonly unseenEdits: number;
  /** The minutes of the day that the export took; undefined if it had not finished at the end. */
  readonly exportMinutes: number | undefined;
}

/** The content of an open page: nothing at first. */
export interface Screen {
  states: readonly State[] | undefined;
}

/** Takes note of what happens in a day, in real milliseconds. */
export class Recorder {
  operations = 0;
  refused = 0;
  edits = 0;
  unseenEdits = 0;
  exportMs: number | undefined;
  readonly #history: History;
  readonly #screens = new Set<Screen>();
  readonly #ages: number[] = [];
  readonly #screenAges: number[] = [];
  #blanks = 0;

  constructor(history: History) {
    this.#history = history;
  }

  /** A page is opened. */
  open(): Screen {
    const screen: Screen = { states: undefined };
    this.#screens.add(screen);
    return screen;
  }

  close(screen: Screen): void {
    this.#screens.delete(screen);
  }

  /** An answer has come that shows these states. */
  answered(states: readonly State[]): void {
    const age = ageOfAll(states, this.#history, performance.now());
    if (age !== undefined) this.#ages.push(age);
  }

  /** Looks at all pages that are open. */
  sample(): void {
    const now = performance.now();
    for (const { states } of this.#screens) {
      if (states === undefined) this.#blanks += 1;
      else this.#screenAges.push(ageOfAll(states, this.#history, now) ?? 0);
    }
  }

  /** The figures of a day of so many minutes, in which so many calls were made. */
  figures(calls: number, throttled: number, minutes: number, toSeconds: (milliseconds: number) => number): Figures {
    const { operations, refused, edits, unseenEdits, exportMs } = this;
    const [ages, screens] = [this.#ages, this.#screenAges].map((all) => Float64Array.from(all).toSorted());
    const at = (sorted: Float64Array | undefined, share: number): number =>
      toSeconds(sorted?.[Math.floor(sorted.length * share)] ?? 0);
    return {
      callsPerMinute: calls / minutes,
      throttled,
      ...{ operations, refused, edits, unseenEdits },
      ageP50: at(ages, 0.5),
      ageP99: at(ages, 0.99),
      screenP50: at(screens, 0.5),
      screenP99: at(screens, 0.99),
      blank: this.#blanks / Math.max(1, this.#blanks + this.#screenAges.length),
      exportMinutes: exportMs === undefined ? undefined : toSeconds(exportMs) / 60,
    };
  }
}
