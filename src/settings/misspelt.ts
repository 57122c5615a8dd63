import type { Setting, SettingsReader } from './reader.ts';

/** Names that other programs and hosts use for what has nearly the same name here. */
const namesOfOthers: ReadonlySet<string> = new Set(['REDIS_URI', 'LOGLEVEL', 'CORS_ORIGIN', 'GRAPHQL']);

/** A shorter name is near to too many others. */
const shortest = 8;

/**
 * Finds names that are nearly a setting's and would be ignored silently. One that can hardly be anything but a mistake is
 * noted; one that may be another program's, or stands beside the right one, is a warning.
 */
export function findMisspelt(reader: SettingsReader, settings: Readonly<Record<string, Setting<unknown>>>): void {
  const own = Object.keys(settings).filter((known) => known.length >= shortest && settings[known]?.shared !== true);
  for (const name of Object.keys(reader.environment)) {
    if (Object.hasOwn(settings, name)) continue;
    const meant = own.find((known) => Math.abs(name.length - known.length) <= 2 && distance(name, known) <= 2);
    if (meant === undefined) continue;
    if (reader.environment[meant] === undefined && !mayBeOthers(name, meant)) {
      const way = `set ${meant}, too, if the name is another program's`;
      reader.fault(name, `there is no such setting; expected ${meant} (${way})`);
    } else {
      reader.warnings.push(`${name}: there is no such setting, and it is ignored; the gateway's own is ${meant}`);
    }
  }
}

/** The one of `known`, all in capitals, of which at most every fourth letter is misspelt; undefined if none is that near. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const capitals = name.toUpperCase();
  const near = known.map((other) => [distance(capitals, other), other] as const);
  return near.filter(([far]) => far * 4 <= name.length).toSorted(([one], [other]) => one - other)[0]?.[1];
}

/** True if a name is known to be others', or has another word in place of one of ours: `WORKSPACE_ID`, `WORKSPACE_ROOT`. */
function mayBeOthers(name: string, meant: string): boolean {
  if (namesOfOthers.has(name)) return true;
  const words = meant.split('_');
  const found = name.split('_');
  if (found.length !== words.length) return false;
  return words.some((word, index) => {
    const other = found[index] ?? '';
    return lettersOf(word) !== lettersOf(other) && distance(word, other) >= Math.max(word.length, other.length) / 2;
  });
}

/** The same for words whose letters have changed places. */
function lettersOf(word: string): string {
  return word.split('').toSorted().join('');
}

/** How many letters have to be inserted, deleted or replaced to make one text of another. */
function distance(one: string, other: string): number {
  let distances = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of one.split('').entries()) {
    const next = [row + 1];
    for (const [column, another] of other.split('').entries()) {
      const replaced = (distances[column] ?? 0) + (letter === another ? 0 : 1);
      next.push(Math.min(replaced, (distances[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    distances = next;
  }
  return distances[other.length] ?? 0;
}
