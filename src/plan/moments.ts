/** A point in the run of an operation: what is known by then, after so many calls that waited for one another. */
export interface Moment {
  readonly wave: number;
  /** What had to be known before; undefined where an operation, or the answer of a write, begins. */
  readonly earlier: Moment | undefined;
}

/** The moment at which something that is asked for at another moment has come. */
export function after(moment: Moment, waves = 1): Moment {
  return { wave: moment.wave + waves, earlier: moment };
}

/** Whether something that is asked for at `one` is asked for at `other` already, or before it. */
export function isBefore(one: Moment, other: Moment): boolean {
  for (let at: Moment | undefined = other; at !== undefined; at = at.earlier) if (at === one) return true;
  return false;
}

/** What happens at each wave of a run, in the order of the waves. */
export class Schedule {
  readonly #waves: (() => void)[][] = [];

  at({ wave }: Moment, task: () => void): void {
    const tasks = this.#waves[wave];
    if (tasks === undefined) this.#waves[wave] = [task];
    else tasks.push(task);
  }

  /** Runs every task; what is wanted before the first, and by those of a wave, `settle` turns into calls. */
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
