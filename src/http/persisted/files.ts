import { globSync, readFileSync, type Stats, statSync } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { ManifestError } from './manifest.ts';

/** A file as it was read. */
export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

/** The files at a path, or matching a glob, in the order of their names. Throws a ManifestError where there is none. */
export function readFiles(pattern: string): ManifestFile[] {
  return findFiles(pattern).map((file) => {
    try {
      return { file, text: readFileSync(file, 'utf8') };
    } catch (error) {
      throw new ManifestError(`${file}: it cannot be read (${codeOf(error)})`, { cause: error });
    }
  });
}

/** A text that is another one as soon as any of the files is. It reads no contents. */
export function fingerprint(pattern: string): string {
  const files = [pattern, ...globSync(pattern)];
  return toFingerprint(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })]));
}

/** The same, without holding up anything else. */
export async function fingerprintLater(pattern: string): Promise<string> {
  const files = [pattern, ...(await Array.fromAsync(glob(pattern)))];
  return toFingerprint(
    await Promise.all(files.map(async (file) => [file, await stat(file).catch(() => undefined)] as const)),
  );
}

function toFingerprint(files: readonly (readonly [file: string, stats: Stats | undefined])[]): string {
  const states = files.map(([file, stats]) => `${file}:${stats?.ino}:${stats?.mtimeMs}:${stats?.size}`);
  return [...new Set(states)].toSorted().join('\n');
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
