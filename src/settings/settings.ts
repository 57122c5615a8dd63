import { availableParallelism } from 'node:os';

/** A setting that cannot be used. The message names the variable, what is wrong with it and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What is wrong with the text of a setting, beyond what is expected. The message quotes nothing that may be secret. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** One environment variable. */
export interface Setting<T> {
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly expected: string;
  /** What a message may show of a wrong value that may hold a password; without it, all of it. */
  readonly shown?: (source: string) => string;
  /** Whether other programs read it as well: then a name that is nearly the same may be one of theirs. */
  readonly shared?: boolean;
  /** The value; undefined if the text is not one. Throws a Fault to say more about what is wrong with it. */
  readonly read: (text: string) => T | undefined;
}

/** A whole number within bounds. */
export function whole(
  meaning: string,
  fallback: string | undefined,
  minimum: number,
  maximum: number,
): Setting<number> {
  return {
    fallback,
    meaning,
    expected: `a whole number from ${minimum} to ${maximum}`,
    read: (source) => {
      const value = /^\d{1,10}$/.test(source) ? Number(source) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

/** How many processes; `auto` is one for each core that this process may use. */
export function workerCount(meaning: string, fallback: string): Setting<number> {
  const number = whole(meaning, fallback, 1, 256);
  const read = (source: string): number | undefined =>
    source === 'auto' ? availableParallelism() : number.read(source);
  return { ...number, expected: `${number.expected}, or auto`, read };
}

/** A share. */
export function fraction(meaning: string, fallback: string): Setting<number> {
  return {
    fallback,
    meaning,
    expected: 'a number from 0 to 1',
    read: (source) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(source) ? Number(source) : undefined),
  };
}

/** A text that is not looked at here. */
export function text(meaning: string, fallback: string | undefined, expected: string): Setting<string> {
  return { fallback, meaning, expected, read: (source) => source };
}

/** One of some words. */
export function oneOf<T extends string>(meaning: string, fallback: T | undefined, values: readonly T[]): Setting<T> {
  return {
    fallback,
    meaning,
    expected: `one of ${values.join(', ')}`,
    read: (source) => values.find((value) => value === source),
  };
}

/** A switch. */
export function onOff(meaning: string, fallback: 'on' | 'off' | undefined): Setting<boolean> {
  return {
    fallback,
    meaning,
    expected: 'on or off',
    read: (source) => (source === 'on' || source === 'off' ? source === 'on' : undefined),
  };
}

/** Names of headers, in lower case. */
export function headerNames(meaning: string): Setting<readonly string[]> {
  return {
    fallback: undefined,
    meaning,
    expected: 'names of headers such as x-team, separated by commas',
    read: (source) => {
      const items = source.split(',').map((item) => item.trim().toLowerCase());
      return items.every((name) => /^[a-z\d-]+$/.test(name)) ? items : undefined;
    },
  };
}

/** Where settings come from: the environment, or a file of the same form. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether an environment has a value of this name: an empty one is none. */
export function isSet(environment: Environment, name: string): boolean {
  return (environment[name] ?? '') !== '';
}

/** The value of a setting, its fallback if it is not set; undefined if it has none. */
export function given<T>(environment: Environment, name: string, setting: Setting<T>): T | undefined {
  const { fallback, expected, shown = JSON.stringify, read } = setting;
  const value = environment[name];
  const source = value === undefined || value === '' ? fallback : value;
  if (source === undefined) return undefined;
  let why = '';
  try {
    const result = read(source);
    if (result !== undefined) return result;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    why = `: ${error.message}`;
  }
  throw new ConfigError(`${name}: expected ${expected}, but got ${shown(source)}${why}`);
}

/** The value of a setting that has one always. */
export function required<T>(environment: Environment, name: string, setting: Setting<T>): T {
  const value = given(environment, name, setting);
  if (value === undefined) throw new ConfigError(`${name}: expected ${setting.expected}, but it is not set`);
  return value;
}

/**
 * Whether OpenTelemetry's own variables ask for traces. Its SDK sends them by default; here it has to be set where to, or
 * to be given a file that says so.
 */
export function asksForTraces(environment: Environment): boolean {
  const value = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';
  if (value('OTEL_SDK_DISABLED') === 'true') return false;
  if (value('OTEL_CONFIG_FILE') !== '') return true;
  const exporter = value('OTEL_TRACES_EXPORTER');
  if (exporter !== '') return exporter !== 'none';
  return value('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '';
}
