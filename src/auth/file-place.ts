import { ConfigError } from '../config-error.ts';
import type { JsonObject } from '../rest/values.ts';

/** A place in a file of upstream keys, for messages. */
export class FilePlace {
  readonly #file: string;
  readonly #path: string;

  constructor(file: string, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** A place within this one: `.member` or `[index]`. */
  at(member: string): FilePlace {
    return new FilePlace(this.#file, `${this.#path}${member}`);
  }

  /** Throws a fault if an object has a member that is not one of `members`. */
  refuseUnknown(object: JsonObject, members: readonly string[]): void {
    const unknown = Object.keys(object).find((member) => !members.includes(member));
    if (unknown === undefined) return;
    throw this.at(memberPath(unknown, '.')).error(
      `one of the members ${members.join(', ')}, but there is no such member`,
    );
  }

  error(expected: string): ConfigError {
    return new ConfigError(`${this.#file}: ${this.#path}: expected ${expected}`);
  }

  unexpected(expected: string, value: unknown): ConfigError {
    return this.error(`${expected}, but got ${shown(value)}`);
  }
}

/** The text for a member in a path: `acme`, or `["a name"]` if the member's name is not a plain word. */
export function memberPath(name: string, separator = ''): string {
  return /^[A-Za-z_][\w-]*$/.test(name) ? `${separator}${name}` : `[${JSON.stringify(name.slice(0, 100))}]`;
}

/** A value as messages may show it. Of a text that might be a key, only the length is shown. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value);
  const mayBeKey = /^ph[a-z]_/.test(value) || /^[\w-]{24,}$/.test(value) || value.length > 100;
  return mayBeKey ? `a text of ${value.length} characters` : JSON.stringify(value);
}

/** The kind of a JSON value, in a word. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
