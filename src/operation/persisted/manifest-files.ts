import { globSync, readFileSync, statSync } from 'node:fs';
import { codeOf } from '../../error-text.ts';
import { ManifestError } from './manifest.ts';

/** A file as it was read. */
export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

/** The files at a path, or matching a glob, in the order of their names. Throws a ManifestError if there is none. */
export function readFiles(pattern: string): ManifestFile[] {
  return findFiles(pattern).map((file) => {
    try {
      return { file, text: readFileSync(file, 'utf8') };
    } catch (error) {
      throw new ManifestError(`${file}: it cannot be read (${codeOf(error) ?? String(error)})`, { cause: error });
    }
  });
}

function findFiles(pattern: string): string[] {
  const stats = statSync(pattern, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    throw new ManifestError(`${pattern}: expected a file or a glob such as ${pattern}/*.json, but it is a folder`);
  }
  if (stats !== undefined) return [pattern];
  const files = globSync(pattern)
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
    .toSorted();
  if (files.length > 0) return files;
  throw new ManifestError(`${pattern}: there is no such file, and as a glob it matches none`);
}
