/** An operation is too large to be planned: planning ends at the limit. */
export class PlanLimitError extends Error {
  override readonly name = 'PlanLimitError';
  readonly limit: number;
  /** Where in the answer planning ended. */
  readonly path: string;

  constructor(limit: number, path: string) {
    super(`the plan takes more than ${limit} steps`);
    this.limit = limit;
    this.path = path;
  }
}

/** So many steps are planned for each REST call that an operation may make: as many places may need its answer. */
const stepsOfCall = 30;

/** Where few calls are allowed, small operations are planned still. */
const leastSteps = 2000;

/** How many steps planning may take where an operation may make so many REST calls. */
export function mostSteps(maxUpstreamCalls: number): number {
  return Math.max(leastSteps, stepsOfCall * maxUpstreamCalls);
}

/** Longer paths take as much of the planning as several places. In characters. */
const usualPath = 256;

/** Counts the steps of one planning: places in the answer and fields there that no row holds. */
export class PlanSteps {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the step to a path. Throws a PlanLimitError beyond the limit. */
  take(path: string): void {
    this.#taken += 1 + Math.floor(path.length / usualPath);
    if (this.#taken > this.#limit) throw new PlanLimitError(this.#limit, path);
  }
}
