import { availableParallelism } from 'node:os';

/** Settings or arguments that cannot be used. Each fault names one of them, what is wrong with it and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** At least one. */
  readonly faults: readonly string[];

  constructor(...faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/** A detailed fault in the text of a setting. The message quotes nothing that may be secret. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** The source of settings: the environment, or a file of the same form. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The parser of the text of a setting, with its description. */
export interface Kind<T> {
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly expected: string;
  /** The part of a wrong value that messages may show, if the value may be secret; without it, messages show all. */
  readonly shown?: (source: string) => string | undefined;
  /** True if other programs also read the variable: a similar name may then belong to one of them. */
  readonly shared?: boolean;
  /** The value; undefined if the text is not one. Throws a Fault to say more about what is wrong with it. */
  readonly read: (text: string) => T | undefined;
}

/** Shows nothing of a value. */
export function nothing(): undefined {
  return undefined;
}

/** A whole number within bounds. */
export function whole(meaning: string, fallback: string | undefined, minimum: number, maximum: number): Kind<number> {
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

/** A time in whole seconds; the value is in milliseconds. */
export function seconds(meaning: string, fallback: string, minimum: number, maximum: number): Kind<number> {
  const number = whole(meaning, fallback, minimum, maximum);
  const read = (source: string): number | undefined => {
    const value = number.read(source);
    return value && value * 1000;
  };
  return { ...number, read };
}

/** A number of processes. `auto` is one for each core that this process may use. */
export function workerCount(meaning: string, fallback: string): Kind<number> {
  const number = whole(meaning, fallback, 1, 256);
  const read = (source: string): number | undefined =>
    source === 'auto' ? availableParallelism() : number.read(source);
  return { ...number, expected: `${number.expected}, or auto`, read };
}

/** A share. */
export function fraction(meaning: string, fallback: string): Kind<number> {
  return {
    fallback,
    meaning,
    expected: 'a number from 0 to 1',
    read: (source) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(source) ? Number(source) : undefined),
  };
}

/** A text that is not checked here. */
export function text(meaning: string, fallback: string | undefined, expected: string): Kind<string> {
  return { fallback, meaning, expected, read: (source) => source };
}

/** One of some words. */
export function oneOf<const T extends string>(meaning: string, fallback: T | undefined, values: readonly T[]): Kind<T> {
  return {
    fallback,
    meaning,
    expected: `one of ${values.join(', ')}`,
    read: (source) => values.find((value) => value === source),
  };
}

/** A switch. */
export function onOff(meaning: string, fallback: 'on' | 'off' | undefined): Kind<boolean> {
  return {
    fallback,
    meaning,
    expected: 'on or off',
    read: (source) => (source === 'on' || source === 'off' ? source === 'on' : undefined),
  };
}

/** Names of headers, in lower case. */
export function headerNames(meaning: string): Kind<readonly string[]> {
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
