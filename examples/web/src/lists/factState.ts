/** Where a fact is on its way. */
export type FactState = 'coming' | 'there' | 'lost';

/** Tells which fields of an object are still to come, and which failed. */
export interface Growth {
  /** True if more fields are to come. */
  readonly isGrowing: boolean;
  /** The fields of it that failed. */
  readonly failedFields: ReadonlySet<string>;
}

/** Of an object that is there as a whole. */
export const grown: Growth = { isGrowing: false, failedFields: new Set() };

/** Where the field of an object is on its way: undefined until it has come, and null if it failed or there is none. */
export function factState<Name extends string>(
  object: { readonly [Field in Name]?: unknown },
  name: Name,
  { isGrowing, failedFields }: Growth,
): FactState {
  const value = object[name];
  if (value === undefined) return isGrowing ? 'coming' : 'lost';
  return value === null && failedFields.has(name) ? 'lost' : 'there';
}
