import { availableParallelism } from 'node:os';
import type { ToolNames } from '../mcp/mcp.ts';
import type { SurfaceLimits, WindowLimit } from '../rest/ledger.ts';
import { surfaces } from '../rest/rest-operations.ts';
import { type Kind, showNothing, ValueError } from './settings-reader.ts';

export function whole(minimum: number, maximum: number): Kind<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    read: (source) => {
      const value = /^\d{1,10}$/.test(source) ? Number(source) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

/** A time in whole seconds; the value is in milliseconds. */
export function seconds(minimum: number, maximum: number): Kind<number> {
  const number = whole(minimum, maximum);
  const read = (source: string): number | undefined => {
    const value = number.read(source);
    return value && value * 1000;
  };
  return { ...number, read };
}

const processes = whole(1, 256);

/** A number of processes. `auto` stands for as many as the cores that this process may use. */
export const workerCount: Kind<number> = {
  expected: `${processes.expected}, or auto`,
  read: (source) => (source === 'auto' ? availableParallelism() : processes.read(source)),
};

export const fraction: Kind<number> = {
  expected: 'a number from 0 to 1',
  read: (source) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(source) ? Number(source) : undefined),
};

/** A text that is not checked here. */
export function text(expected: string): Kind<string> {
  return { expected, read: (source) => source };
}

export function oneOf<const T extends string>(...values: readonly T[]): Kind<T> {
  return { expected: `one of ${values.join(', ')}`, read: (source) => values.find((value) => value === source) };
}

export const onOff: Kind<boolean> = {
  expected: 'on or off',
  read: (source) => (source === 'on' || source === 'off' ? source === 'on' : undefined),
};

export function secret(shortest: number): Kind<string> {
  return {
    expected: `a secret that cannot be guessed, of at least ${shortest} characters`,
    shown: showNothing,
    read: (source) => {
      if (source.length < shortest) throw new ValueError(`it has ${source.length} characters`);
      return source;
    },
  };
}

/** Names of headers, in lower case. */
export const headerNames: Kind<readonly string[]> = {
  expected: 'names of headers such as x-team, separated by commas',
  read: (source) => {
    const names = itemsOf(source).map((name) => name.toLowerCase());
    return names.every((name) => /^[a-z\d-]+$/.test(name)) ? names : undefined;
  },
};

/** Names of operations, or `*` for all queries with a name. */
export const toolNames: Kind<ToolNames> = {
  expected: 'names of operations, separated by commas, or * for every named query',
  read: (source) => {
    const names = itemsOf(source);
    const wrong = names.find((name) => name !== '*' && !/^[A-Za-z_]\w{0,127}$/.test(name));
    if (wrong !== undefined) throw new ValueError(`${JSON.stringify(wrong)} is not the name of an operation`);
    return Object.freeze([...new Set(names)]);
  },
};

/** The items of a list that commas separate. */
export function itemsOf(source: string): readonly string[] {
  return source.split(',').map((item) => item.trim());
}

const mostCalls = 1_000_000;

/** The longest span of a limit, and the longest time for which an answer may be fresh, in seconds: a day. */
const mostSeconds = 86_400;

/** The seconds for which answers are fresh, by noun. `nouns` are the names that may be given. */
export function secondsByNoun(nouns: readonly string[]): Kind<Readonly<Record<string, number>>> {
  return {
    expected: `seconds from 1 to ${mostSeconds} for ${nouns.join(', ')}, such as projects=60 events=5`,
    read: (source) =>
      membersOf(source, { label: 'kind', names: nouns, wanted: '= and a number of seconds' }, secondsIn),
  };
}

function secondsIn(given: string, noun: string): number {
  const value = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= 1 && value <= mostSeconds) return value;
  throw new ValueError(
    `${noun} has ${JSON.stringify(given)}, which is not a number of seconds from 1 to ${mostSeconds}`,
  );
}

/** Limits of the calls in spans of time, by surface. */
export const windows: Kind<SurfaceLimits> = {
  expected:
    'limits for the surfaces events, values or rest, such as rest=480/60,4800/3600 events=240/60, where 480/60 means 480 calls in 60 seconds',
  read: (source) => membersOf(source, { label: 'surface', names: surfaces, wanted: '= and calls/seconds' }, windowsIn),
};

function windowsIn(list: string, surface: string): readonly WindowLimit[] {
  const own: WindowLimit[] = [];
  for (const item of list.split(',')) {
    const [, calls = '', length = ''] = /^(\d{1,7})\/(\d{1,5})$/.exec(item) ?? [];
    const [limit, ms] = [Number(calls), Number(length) * 1000];
    if (calls === '')
      throw new ValueError(`${surface} has ${JSON.stringify(item)}, which does not have the form calls/seconds`);
    if (limit < 1 || limit > mostCalls)
      throw new ValueError(`${surface} allows ${limit} calls, which is not from 1 to ${mostCalls}`);
    if (ms < 1 || ms > mostSeconds * 1000)
      throw new ValueError(`${surface} has a window of ${length} seconds, which is not from 1 to ${mostSeconds}`);
    if (own.some((window) => window.ms === ms)) throw new ValueError(`${surface} has two windows of ${length} seconds`);
    own.push({ limit, ms });
  }
  return own.toSorted((a, b) => a.ms - b.ms);
}

/**
 * The values in a text such as `projects=60 events=5`, by their names. Throws a ValueError if a name is unknown or
 * comes twice, or if its value is missing or wrong.
 */
function membersOf<T>(
  source: string,
  { label, names, wanted }: { readonly label: string; readonly names: readonly string[]; readonly wanted: string },
  valueOf: (given: string, name: string) => T,
): Readonly<Record<string, T>> {
  const members: Record<string, T> = {};
  for (const item of source.trim().split(/\s+/)) {
    const [, name = '', given] = /^([^=]*)(?:=(.*))?$/.exec(item) ?? [];
    if (!names.includes(name)) throw new ValueError(`there is no ${label} called ${JSON.stringify(name)}`);
    if (Object.hasOwn(members, name)) throw new ValueError(`${name} is given twice`);
    if (given === undefined) throw new ValueError(`${name} needs ${wanted}`);
    members[name] = valueOf(given, name);
  }
  return Object.freeze(members);
}
