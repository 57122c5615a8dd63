/** A point in the run of an operation: what is known by then, after so many calls that waited for one another. */
export interface Stage {
  readonly wave: number;
  /** What had to be known before; undefined where an operation, or the answer of a write, begins. */
  readonly earlier: Stage | undefined;
}

/** The stage at which something that is asked for at another stage has arrived. */
export function after(stage: Stage, waves = 1): Stage {
  return { wave: stage.wave + waves, earlier: stage };
}

/** Whether something that is asked for at `one` is asked for at `other` already, or before it. */
export function isBefore(one: Stage, other: Stage): boolean {
  for (let at: Stage | undefined = other; at !== undefined; at = at.earlier) if (at === one) return true;
  return false;
}

/** What happens at each wave of a run, in the order of the waves. */
export class Schedule {
  readonly #waves: (() => void)[][] = [];

  at({ wave }: Stage, task: () => void): void {
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
