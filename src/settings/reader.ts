import { type Environment, given, required, type Setting } from './settings.ts';

/** Reads settings from an environment, and notes each of them for the papers. */
export interface SettingsReader {
  /** All settings that were read, by the names of their variables and in that order. */
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
  /** The value of a setting that has a default. Throws a ConfigError for a wrong one. */
  readonly required: <T>(name: string, setting: Setting<T>) => T;
  /** The value of a setting that may be left out. Throws a ConfigError for a wrong one. */
  readonly optional: <T>(name: string, setting: Setting<T>) => T | undefined;
  /** Notes settings that are read elsewhere, because several of them are one value. */
  readonly note: (settings: Readonly<Record<string, Setting<unknown>>>) => void;
}

/** Makes a reader of an environment. */
export function createSettingsReader(environment: Environment): SettingsReader {
  const settings: Record<string, Setting<unknown>> = {};
  return {
    settings,
    required: (name, setting) => {
      settings[name] = setting;
      return required(environment, name, setting);
    },
    optional: (name, setting) => {
      settings[name] = setting;
      return given(environment, name, setting);
    },
    note: (others) => void Object.assign(settings, others),
  };
}
