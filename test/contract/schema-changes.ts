import { BreakingChangeType, findSchemaChanges, type GraphQLSchema } from 'graphql';

const breakingTypes: ReadonlySet<string> = new Set(Object.values(BreakingChangeType));

/** The part of a changelog about what is not released yet. Throws if there is none. */
export function unreleased(changelog: string): string {
  const [, section] = /^## \[Unreleased\]\n(.*?)(?=^## |(?![^]))/ms.exec(changelog) ?? [];
  if (section === undefined) throw new Error('the changelog has no section [Unreleased]');
  return section;
}

/** The breaking changes between two schemas that a text does not name by their coordinate. */
export function unnamedBreakingChanges(before: GraphQLSchema, after: GraphQLSchema, text: string): string[] {
  return findSchemaChanges(before, after)
    .filter(({ type }) => breakingTypes.has(type))
    .map(({ description }) => ({ description, coordinate: coordinateIn(description) }))
    .filter(({ coordinate }) => !names(text, coordinate))
    .map(({ coordinate, description }) => `${coordinate}: ${description}`);
}

/** The schema coordinate that a description of graphql's begins with: `Type`, `Type.field` or `Type.field(argument:)`. */
function coordinateIn(description: string): string {
  const coordinate = /@?\b[A-Za-z_]\w*(?:\.\w+)?\(\w+:\)|@?\b[A-Za-z_]\w*\.\w+|@\w+/.exec(description)?.[0];
  return coordinate ?? nameIn(description);
}

/** The first word that is no word of graphql's own sentences. */
function nameIn(description: string): string {
  const words = description.match(/\w+/g) ?? [];
  const ownWords = new Set(['Standard', 'scalar', 'Directive']);
  return words.find((word) => !ownWords.has(word)) ?? description;
}

/** A longer coordinate does not name a shorter one: `Project.name` says nothing of `Project`. */
function names(text: string, coordinate: string): boolean {
  return new RegExp(`(?<![\\w.@])${RegExp.escape(coordinate)}(?![\\w(.])`).test(text);
}
