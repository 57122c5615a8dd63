import { ConfigError, type Environment, Fault, type Kind } from './settings.ts';

/** An environment variable. T includes undefined if it may be left out. */
export interface Setting<T> extends Kind<T> {
  readonly name: string;
  /** The value if the variable is not set. */
  readonly absent: () => T;
}

/** A setting that has a default. */
export function required<T>(name: string, kind: Kind<T>): Setting<T> {
  const absent = (): T => {
    const value = kind.read(kind.fallback ?? '');
    if (value === undefined) throw new Error(`${name}: expected a default that can be read`);
    return value;
  };
  return { ...kind, name, absent };
}

/** A setting that may be left out. */
export function optional<T>(name: string, kind: Kind<T>): Setting<T | undefined> {
  return { ...kind, name, absent: () => undefined };
}

/** Settings by the names that the configuration has for them; some are in groups of their own. */
export interface Settings {
  readonly [name: string]: Setting<unknown> | Settings;
}

/** The values of settings, by the same names. */
export type Values<S> = { readonly [N in keyof S]: S[N] extends { readonly absent: () => infer T } ? T : Values<S[N]> };

/** The settings of all groups, one after the other. */
export function settingsIn(settings: Settings): readonly Setting<unknown>[] {
  return Object.values(settings).flatMap((one) => (isSetting(one) ? [one] : settingsIn(one)));
}

function isSetting(one: Setting<unknown> | Settings): one is Setting<unknown> {
  return typeof one.name === 'string';
}

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
  /** A set, because some settings are read for several purposes. */
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
      if (!(error instanceof Fault)) throw error;
      this.#refuse(setting, source, error.message);
    }
    return setting.absent();
  }

  /** The value of a setting that other settings require. If it is not set, reports a fault with the reason. */
  need<T>(setting: Setting<T>, because: string): T {
    const { name, expected } = setting;
    if (!this.isSet(name)) this.fault(name, `expected ${expected}, because ${because}, but it is not set`);
    return this.read(setting);
  }

  all<S extends Settings>(settings: S): Values<S>;
  all(settings: Settings): unknown {
    const entries = Object.entries(settings);
    return Object.freeze(
      Object.fromEntries(entries.map(([name, one]) => [name, isSetting(one) ? this.read(one) : this.all(one)])),
    );
  }

  fault(name: string, what: string): void {
    this.#faults.add(`${name}: ${what}`);
  }

  /** Warns of settings that are set but have no effect because of others. */
  warnOfIgnored(settings: readonly Setting<unknown>[], because: string): void {
    for (const { name } of settings)
      if (this.isSet(name)) this.warnings.push(`${name}: it is ignored, because ${because}`);
  }

  finish(): void {
    if (this.#faults.size > 0) throw new ConfigError(...this.#faults);
  }

  #refuse({ name, expected, shown = JSON.stringify }: Setting<unknown>, source: string, why?: string): void {
    const text = shown(source);
    const found =
      text === undefined ? (why ?? 'it is something else') : `got ${text}${why === undefined ? '' : `: ${why}`}`;
    const place = this.#own[name] === undefined ? ' (in .env)' : '';
    this.fault(name, `expected ${expected}, but ${found}${place}`);
  }
}
