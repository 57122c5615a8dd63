import type { Setting, SettingsReader } from './reader.ts';

/** Names that other programs and hosts use and that nearly equal a setting's. */
const namesOfOthers: ReadonlySet<string> = new Set(['REDIS_URI', 'LOGLEVEL', 'CORS_ORIGIN', 'GRAPHQL']);

/** The fewest characters of a name that is compared: shorter ones are near too many others. */
const shortest = 8;

/**
 * Finds variables whose names nearly equal that of a setting and would be ignored silently. A name that is almost
 * certainly a mistake is a fault. One that may belong to another program, or that is set beside the right one, is a
 * warning.
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

/**
 * The name in `known`, all in capitals, that is nearest to `name`; undefined if none is near. At most every fourth letter
 * may differ.
 */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const capitals = name.toUpperCase();
  const near = known.map((other) => [distance(capitals, other), other] as const);
  return near.filter(([far]) => far * 4 <= name.length).toSorted(([one], [other]) => one - other)[0]?.[1];
}

/**
 * True if a name is known to belong to other programs, or differs from ours in a whole word, such as `WORKSPACE_ID` and
 * `WORKSPACE_ROOT`.
 */
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

/** The sorted letters of a word: equal for words with transposed letters. */
function lettersOf(word: string): string {
  return word.split('').toSorted().join('');
}

/** The edit distance of two texts: the number of letters to insert, delete or replace. */
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
