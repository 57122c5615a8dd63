import type { Settings, SettingsReader } from './settings-reader.ts';

/** Names that nearly equal the name of a setting but are used by other programs or hosting platforms. */
const namesOfOthers: ReadonlySet<string> = new Set(['REDIS_URI', 'LOGLEVEL', 'CORS_ORIGIN', 'GRAPHQL']);

/** The fewest characters of a name that is compared: shorter ones are near too many others. */
const shortest = 8;

/**
 * Finds variables whose names nearly equal the name of a setting, because they would otherwise be ignored silently.
 * Reports such a name as a fault. If the name may belong to another program, or if the setting that it resembles is
 * also set, there is just a warning.
 */
export function findMisspelt(reader: SettingsReader, settings: Settings): void {
  // Variables that resemble a proxy setting, such as FTP_PROXY, belong to other programs.
  const own = Object.keys(settings).filter((known) => known.length >= shortest && !known.endsWith('_PROXY'));
  for (const name of Object.keys(reader.environment)) {
    // A name in `.env` was checked when the file was read.
    if (Object.hasOwn(settings, name) || reader.placeOf(name) === '.env') continue;
    const meant = nearestOf(name, own);
    if (meant === undefined) continue;
    if (reader.environment[meant] === undefined && !mayBeOthers(name, meant)) {
      const way = `if another program uses ${name}, set ${meant} as well`;
      reader.addFault(name, `there is no such setting; expected ${meant} (${way})`);
    } else {
      reader.warnings.push(`${name}: there is no such setting, so it is ignored; the gateway has a setting ${meant}`);
    }
  }
}

/**
 * The name in `known` that is nearest to `name`; undefined if none is near. A name is near if at most two letters, and
 * at most a quarter of the letters of the known name, differ.
 */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const near = known
    .filter((other) => Math.abs(name.length - other.length) <= 2 && hasThirdOf(name, other))
    .map((other) => [distance(name, other), other] as const)
    .filter(([far, other]) => far <= 2 && far * 4 <= other.length);
  return near.toSorted(([one], [other]) => one - other)[0]?.[1];
}

/**
 * True if `name` contains the first, second or last third of `other`. Two edits leave one of the thirds as it is, so
 * the distance, which takes longer, is only computed for the few names that contain one.
 */
function hasThirdOf(name: string, other: string): boolean {
  const third = Math.ceil(other.length / 3);
  return [0, third, 2 * third].some((start) => name.includes(other.slice(start, start + third)));
}

/**
 * True if a name probably belongs to another program. Either it is one of `namesOfOthers`, or one of its words clearly
 * differs from the word at the same place in `meant`, the setting that it resembles. So `WORKSPACE_ROOT` is not a
 * misspelt `WORKSPACE_PORT`. Transposed letters are not a difference.
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
