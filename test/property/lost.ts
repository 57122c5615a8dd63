import { isObject } from '../../src/rest/values.ts';

/** The data and the errors that a client has at the end. */
export interface Told {
  readonly data: unknown;
  readonly errors: readonly ToldError[];
}

/** An error as a client sees it. */
export interface ToldError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: unknown;
}

/** The comparable part of an answer: its data, and its errors as a set of texts. */
export interface Shown {
  readonly data: unknown;
  readonly errors: readonly string[];
}

/**
 * The parts of an answer and the answer as a whole, so that both can be compared. Parts may tell an object that the whole
 * one loses: because its row fails after it was told, or because a null passes only the fragment that it stands in. Of such
 * an object it is compared that something failed there. Where errors are in the document is left out: a field of two fragments
 * fails once in each.
 */
export function comparable(parts: Told, whole: Told): readonly [parts: Shown, whole: Shown] {
  const lost = new Set(
    [parts, whole].flatMap(({ errors, data }) =>
      errors.filter((error) => isLost(error, data, whole.data)).map((error) => placeOf(error, whole.data)),
    ),
  );
  const show = ({ data, errors }: Told): Shown => ({
    data: withoutLost(data, '', lost),
    errors: [...new Set(errors.map((error) => shown(error, whole.data, lost)))].toSorted(),
  });
  return [show(parts), show(whole)];
}

function shown(error: ToldError, whole: unknown, lost: ReadonlySet<string>): string {
  const place = placeOf(error, whole);
  const { message, path, extensions } = error;
  return lost.has(place) ? `something below ${place}` : JSON.stringify([path, message, extensions]);
}

/** True if parts told, or may have told, more than the null that the whole answer has. */
function isLost(error: ToldError, data: unknown, whole: unknown): boolean {
  return placeOf(error, whole) !== textOf(error.path) || valueAt(error.path, data) !== null;
}

/** Where the whole answer has a null because of an error: at its path, or above it. */
function placeOf({ path = [] }: ToldError, whole: unknown): string {
  const depth = path.findIndex((_key, index) => valueAt(path.slice(0, index), whole) === null);
  return textOf(depth === -1 ? path : path.slice(0, depth));
}

function withoutLost(value: unknown, path: string, lost: ReadonlySet<string>): unknown {
  if (lost.has(path)) return null;
  if (Array.isArray(value)) return value.map((item, index) => withoutLost(item, `${path}/${index}`, lost));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutLost(member, `${path}/${key}`, lost)]);
  return Object.fromEntries(members);
}

function valueAt(path: ToldError['path'] = [], data: unknown): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    data,
  );
}

function textOf(path: ToldError['path'] = []): string {
  return path.map((key) => `/${key}`).join('');
}
