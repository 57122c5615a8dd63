/** The forms of ids: an integer, a UUID, or any text that stays one segment of a path. */
export type IdForm = 'integer' | 'uuid' | 'text';

/**
 * The types whose objects own collections. `path` is their segment in paths of the REST API. `argument` is the name of
 * the owner's id in inputs of mutations.
 */
export const owners = {
  Project: { path: 'projects', argument: 'projectId' },
  Organization: { path: 'organizations', argument: 'organizationId' },
} as const;

/** A type whose objects own collections. */
export type OwnerType = keyof typeof owners;

interface NounEntry {
  /** The type that owns its collections; undefined if each API key has one collection. */
  readonly owner: OwnerType | undefined;
  /** The path segment of its collections. */
  readonly path: string;
  readonly ids: IdForm;
}

/**
 * The nouns that the REST API has rows of. Their columns and operations are in the OpenAPI document, and their fields
 * in `schema/`. An organization has no row, only an id.
 */
export const nouns = {
  Project: { owner: undefined, path: 'projects', ids: 'integer' },
  Dashboard: { owner: 'Project', path: 'dashboards', ids: 'integer' },
  Event: { owner: 'Project', path: 'events', ids: 'text' },
  Plugin: { owner: 'Organization', path: 'plugins', ids: 'integer' },
} as const satisfies Readonly<Record<string, NounEntry>>;

/** The name of a noun, and of its type in the schema. */
export type Noun = keyof typeof nouns;

/** The types that a global id can name. */
export type NodeType = Noun | 'Organization';

/** Every noun, in the order of the table. */
export const nounNames: readonly Noun[] = Object.keys(nouns).filter(isNoun);

/** True if a text is the name of a noun. */
export function isNoun(text: string): text is Noun {
  return Object.hasOwn(nouns, text);
}

/** The type that owns the objects of a type; undefined for projects and organizations. */
export function ownerTypeOf(type: NodeType): OwnerType | undefined {
  return type === 'Organization' ? undefined : nouns[type].owner;
}

/** Makes a value for each noun. */
export function mapNouns<T>(valueOf: (noun: Noun) => T): Readonly<Record<Noun, T>> {
  const values: Partial<Record<Noun, T>> = {};
  for (const noun of nounNames) values[noun] = valueOf(noun);
  if (hasAll(values)) return values;
  throw new Error('a noun was left out');
}

function hasAll<T>(values: Partial<Record<Noun, T>>): values is Record<Noun, T> {
  return nounNames.every((noun) => Object.hasOwn(values, noun));
}
