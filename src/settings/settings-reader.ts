import { ConfigError } from '../config-error.ts';

/** An error that says in detail what is wrong with the text of a setting. The message quotes nothing secret. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** The source of settings: the environment, or a file of the same form. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The kind of values that a setting takes. */
export interface Kind<T> {
  readonly expected: string;
  /**
   * The part of a wrong value that messages may show; undefined if they may show nothing. A kind whose values are never
   * secret has no such function, and messages show the whole value.
   */
  readonly shown?: (source: string) => string | undefined;
  /**
   * The value of a text; undefined if the text is wrong. Throws a ValueError if more can be said about what is wrong.
   */
  readonly read: (text: string) => T | undefined;
}

/** A function for `Kind.shown`: messages show nothing of the value. */
export function showNothing(): undefined {
  return undefined;
}

/** An environment variable. T includes undefined if the variable has no default. */
export interface Setting<T> extends Kind<T> {
  readonly name: string;
  readonly meaning: string;
  readonly fallback: string | undefined;
  /** The value if the variable is not set. */
  readonly absent: () => T;
}

/** Declares a setting by its name, or as `NAME=default`. With a default, it always has a value. */
export function define<T>(declared: `${string}=${string}`, kind: Kind<T>, meaning: string): Setting<T>;
export function define<T>(declared: string, kind: Kind<T>, meaning: string): Setting<T | undefined>;
export function define<T>(declared: string, kind: Kind<T>, meaning: string): Setting<T | undefined> {
  const [name = '', fallback] = declared.split(/=(.*)/s);
  return { ...kind, name, meaning, fallback, absent: () => (fallback === undefined ? undefined : kind.read(fallback)) };
}

/** Settings by name: by their names in the configuration, or by the names of their variables. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, each by the name of its setting. */
export type Values<S> = { readonly [N in keyof S]: S[N] extends { readonly absent: () => infer T } ? T : never };

/** The variables that a file such as `.env` sets, and its faults. */
export interface EnvironmentFile {
  readonly values: Environment;
  readonly faults: readonly string[];
}

/** Reads settings and collects all of their faults, so that they can be reported together. */
export class SettingsReader {
  /** Messages about settings that look like mistakes but may be intended. */
  readonly warnings: string[] = [];
  /** The variables of the environment, and those that only the file sets. */
  readonly environment: Environment;
  readonly #own: Environment;
  /** A set, because a setting that is read several times reports the same fault each time. */
  readonly #faults: Set<string>;

  constructor(environment: Environment, { values, faults }: EnvironmentFile = { values: {}, faults: [] }) {
    this.environment = { ...values, ...environment };
    this.#own = environment;
    this.#faults = new Set(faults);
  }

  /** True if a variable has a value. An empty value counts as not set. */
  isSet(name: string): boolean {
    return (this.environment[name] ?? '') !== '';
  }

  /** The place where a variable is set, for messages. */
  placeOf(name: string): string {
    return this.#own[name] === undefined ? '.env' : 'the environment';
  }

  /** The value of a setting. A wrong value is reported as a fault and read as if the variable were not set. */
  read<T>(setting: Setting<T>): T {
    const source = this.environment[setting.name] ?? '';
    if (source === '') return setting.absent();
    try {
      const value = setting.read(source);
      if (value !== undefined) return value;
      this.#refuse(setting, source);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refuse(setting, source, error.message);
    }
    return setting.absent();
  }

  /** The value of a required setting. If it is not set, reports a fault that gives `because` as the reason. */
  need<T>(setting: Setting<T>, because: string): T {
    const { name, expected } = setting;
    if (!this.isSet(name)) this.addFault(name, `expected ${expected}, because ${because}, but it is not set`);
    return this.read(setting);
  }

  /**
   * The result of `read`; undefined if it throws a ConfigError. Reports the faults of that error as faults of the
   * setting.
   */
  collect<T>({ name }: Setting<unknown>, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const fault of error.faults) this.addFault(name, fault);
      return undefined;
    }
  }

  all<S extends Settings>(settings: S): Values<S>;
  all(settings: Settings): unknown {
    return Object.freeze(Object.fromEntries(Object.entries(settings).map(([name, one]) => [name, this.read(one)])));
  }

  addFault(name: string, what: string): void {
    this.#faults.add(`${name}: ${what}`);
  }

  /** Warns of settings that are set but have no effect because of others. */
  warnOfIgnored(settings: readonly Setting<unknown>[], because: string): void {
    for (const { name } of settings)
      if (this.isSet(name)) this.warnings.push(`${name}: it is ignored, because ${because}`);
  }

  throwFaults(): void {
    if (this.#faults.size > 0) throw new ConfigError(...this.#faults);
  }

  #refuse({ name, expected, shown = JSON.stringify }: Setting<unknown>, source: string, why?: string): void {
    const text = shown(source);
    const found =
      text === undefined ? (why ?? 'it is something else') : `got ${text}${why === undefined ? '' : `: ${why}`}`;
    const place = this.#own[name] === undefined ? ' (in .env)' : '';
    this.addFault(name, `expected ${expected}, but ${found}${place}`);
  }
}
