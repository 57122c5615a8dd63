import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { nearestOf } from './misspelt.ts';
import { ConfigError } from './settings.ts';

/** Names in such a file that are no settings, but are read: OpenTelemetry's, and proxies in lower case. */
const foreignNames = /^OTEL_|^NODE_ENV$|^(https?|all|no)_proxy$/;

/**
 * The settings of a file such as `.env`, by name; none if it does not exist. Throws a ConfigError if it cannot be read, has a
 * name that is not among `known`, or a line that sets nothing.
 */
export function readEnvironmentFile(path: string, known: readonly string[]): Record<string, string | undefined> {
  if (!existsSync(path)) return {};
  // Some editors begin a file with a byte order mark, which would be part of its first name.
  const text = textOf(path).replace(/^\uFEFF/, '');
  const values = parseEnv(text);
  const unknown = Object.keys(values).find((name) => !known.includes(name) && !foreignNames.test(name));
  if (unknown !== undefined) {
    const meant = nearestOf(unknown, known);
    const advice = meant === undefined ? 'see --help' : `expected ${meant}`;
    throw new ConfigError(`${unknown}: there is no such setting (in ${path}); ${advice}`);
  }
  // Lines of a value that has several cannot be told from those that set nothing.
  const line = Object.values(values).some((value) => value?.includes('\n')) ? -1 : firstWithoutValue(text);
  if (line !== -1) throw new ConfigError(`${path}: expected NAME=value in line ${line + 1}, but it has no =`);
  return values;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path}: expected a file that can be read, but got: ${String(error)}`);
  }
}

/** The index of the first line that is neither empty nor a comment and sets nothing; -1 if there is none. */
function firstWithoutValue(text: string): number {
  return text.split('\n').findIndex((line) => /^\s*[^\s#]/.test(line) && !line.includes('='));
}
