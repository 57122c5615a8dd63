import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { unreadableBecause } from '../error-text.ts';
import { nearestOf } from './names.ts';
import type { EnvironmentFile } from './settings-reader.ts';

/**
 * Matches names that a file such as `.env` may set although they are no settings: the names of OpenTelemetry,
 * `NODE_ENV`, and the names of proxies in lower case.
 */
const foreignNames = /^OTEL_|^NODE_ENV$|^(https?|all|no)_proxy$/;

/**
 * Reads the variables of a file such as `.env`; none if it does not exist. Reports a fault if the file cannot be read,
 * one for each name that is neither in `known` nor foreign, and one for the first line that sets nothing.
 */
export function readEnvironmentFile(path: string, known: readonly string[]): EnvironmentFile {
  if (!existsSync(path)) return { values: {}, faults: [] };
  let text: string;
  try {
    // Some editors write a byte order mark, which would become part of the first name.
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    return { values: {}, faults: [`${path}: expected a file that can be read, but ${unreadableBecause(error)}`] };
  }
  const values = parseEnv(text);
  const unknown = Object.keys(values).filter((name) => !known.includes(name) && !foreignNames.test(name));
  const faults = unknown.map((name) => {
    const meant = nearestOf(name.toUpperCase(), known);
    if (meant !== undefined) return `${name}: there is no such setting (in ${path}); expected ${meant}`;
    // A name with other characters than capitals and underscores may be a piece of a pasted key, so it is not quoted.
    if (!/^[A-Z][A-Z_]*$/.test(name))
      return `${path}: expected the name of a setting in line ${lineOf(name, text)}, but the line has another name`;
    return `${name}: there is no such setting (in ${path}); see --help`;
  });
  // The lines of a multi-line value look like lines that set nothing.
  const line = Object.values(values).some((value) => value?.includes('\n')) ? -1 : firstWithoutValue(text);
  if (line !== -1) faults.push(`${path}: expected NAME=value in line ${line + 1}, but it has no =`);
  return { values, faults };
}

/** The number of the first line that sets a name. Other lines may hold the name, too: in a comment or in a value. */
function lineOf(name: string, text: string): number {
  const names = text.split('\n').map((line) => /^\s*(?:export\s+)?(.*?)\s*=/.exec(line)?.[1]);
  return names.indexOf(name) + 1;
}

/** The index of the first line that is neither empty nor a comment and sets nothing; -1 if there is none. */
function firstWithoutValue(text: string): number {
  return text.split('\n').findIndex((line) => /^\s*[^\s#]/.test(line) && !line.includes('='));
}
