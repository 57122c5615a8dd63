/** A function of the query language. */
export interface QueryFunction {
  /** Fewest arguments. */
  readonly least: number;
  /** Most arguments. */
  readonly most: number;
  readonly apply: (...values: readonly unknown[]) => unknown;
}

/** A function of so many arguments. */
export function fixed(count: number, apply: QueryFunction['apply']): QueryFunction {
  return { least: count, most: count, apply };
}

/** A function of so many arguments or more. */
export function variadic(least: number, apply: QueryFunction['apply']): QueryFunction {
  return { least, most: Number.POSITIVE_INFINITY, apply };
}

/** A function of `least` to `most` arguments. */
export function optional(least: number, most: number, apply: QueryFunction['apply']): QueryFunction {
  return { least, most, apply };
}
