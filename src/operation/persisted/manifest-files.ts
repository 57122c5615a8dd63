import { globSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { unreadableBecause } from '../../error-text.ts';
import { readTextFile } from '../../read-text.ts';
import { ManifestError } from './manifest.ts';

/** A file as it was read. */
export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

/** The locations of manifests: paths of files and folders, globs, and URLs. */
export interface ManifestSources {
  readonly patterns: readonly string[];
  readonly urls: readonly string[];
}

/** Splits PERSISTED_DOCUMENTS into its members. Commas separate them, except within the braces of a glob. */
export function sourcesOf(members: string): ManifestSources {
  const all = members
    .split(/,(?![^{]*\})/)
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const [urls, patterns] = [true, false].map((wanted) => all.filter((member) => isUrl(member) === wanted));
  return { patterns: patterns ?? [], urls: urls ?? [] };
}

function isUrl(member: string): boolean {
  return /^https?:\/\//i.test(member);
}

/**
 * The files at a path, in a folder, or matching a glob, in the order of their names. Throws a ManifestError if there
 * are none.
 */
export function readFiles(pattern: string): ManifestFile[] {
  return findFiles(pattern).map((file) => {
    try {
      return { file, text: readTextFile(file) };
    } catch (error) {
      throw new ManifestError(`${file}: expected a file that can be read, but ${unreadableBecause(error)}`, {
        cause: error,
      });
    }
  });
}

function findFiles(pattern: string): string[] {
  if (statsOf(pattern)?.isDirectory() === false) return [pattern];
  const glob = globOf(pattern);
  const files = globSync(glob)
    .filter((file) => statsOf(file)?.isFile())
    .toSorted();
  if (files.length > 0) return files;
  throw new ManifestError(
    `${glob}: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none`,
  );
}

/** Converts a folder to the glob of the manifests and documents directly in it; returns anything else unchanged. */
export function globOf(path: string): string {
  return statsOf(path)?.isDirectory() === true ? join(path, '*.{json,graphql,gql}') : path;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
