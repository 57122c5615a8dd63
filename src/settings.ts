/** A setting that cannot be used. The message names the variable, what is wrong with it and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** One environment variable. */
export interface Setting<T> {
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly expected: string;
  /** The value; undefined where the text is none. */
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

/** A share. */
export function fraction(meaning: string, fallback: string): Setting<number> {
  return {
    fallback,
    meaning,
    expected: 'a number from 0 to 1',
    read: (source) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(source) ? Number(source) : undefined),
  };
}

/** Any text. */
export function text(meaning: string, fallback: string | undefined): Setting<string> {
  return { fallback, meaning, expected: 'text', read: (source) => source };
}

/** One of some words. */
export function oneOf<T extends string>(meaning: string, fallback: T, values: readonly T[]): Setting<T> {
  return {
    fallback,
    meaning,
    expected: `one of ${values.join(', ')}`,
    read: (source) => values.find((value) => value === source),
  };
}

/** A base URL. */
export function url(meaning: string): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'an absolute http or https URL without user, query or fragment',
    read: (source) => {
      const parsed = URL.parse(source);
      const plain = parsed !== null && /^https?:$/.test(parsed.protocol);
      return plain && `${parsed.username}${parsed.password}${parsed.search}${parsed.hash}` === '' ? source : undefined;
    },
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

/** Origins such as `https://app.example.com`, separated by commas. */
export function list(meaning: string): Setting<readonly string[]> {
  return {
    fallback: undefined,
    meaning,
    expected: 'origins such as https://app.example.com, separated by commas',
    read: (source) => {
      const origins = source.split(',').map((item) => item.trim());
      return origins.every((origin) => URL.parse(origin)?.origin === origin) ? origins : undefined;
    },
  };
}
