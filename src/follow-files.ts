import { globSync, type Stats, statSync } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { messageOf } from './error-text.ts';
import type { Log } from './log.ts';

/** Settings of followed files. */
export interface FollowOptions {
  /** The name of the files in the log. */
  readonly name: string;
  /** Returns the current paths and globs of the files. A file that was read may name further ones. */
  readonly patterns: () => readonly string[];
  /** The fingerprint of the files, taken before they were first read. */
  readonly since: string;
  /**
   * The interval at which the files are checked, in milliseconds, by default 500. Changed files are read again as soon
   * as they have stayed the same for that long.
   */
  readonly pollMs?: number | undefined;
  /** Reads the files again. Throws, or rejects, if they cannot be used; such a failure is logged and counted. */
  readonly read: () => void | Promise<void>;
  readonly log: Log;
}

/** The numbers of attempts to read something again, by result, counted from the start. */
export interface Reloads {
  ok: number;
  /** The number of attempts that changed nothing, because the file could not be used. */
  failed: number;
}

/** Files that are read again when they change. */
export interface Followed {
  /** Reads the files now, whether they have changed or not. Resolves when they have been read. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** Followed files, with the results of reading them again. */
export interface FollowedFiles extends Followed {
  readonly reloads: Readonly<Reloads>;
}

/** Follows files by checking them at intervals, because not every system announces changes of mounts and links. */
export function followFiles({ name, patterns, since, pollMs = 500, read, log }: FollowOptions): FollowedFiles {
  let known = since;
  let last: Promise<void> = Promise.resolve();
  const reloads: Reloads = { ok: 0, failed: 0 };
  const readAgain = async (): Promise<void> => {
    try {
      known = fingerprint(patterns());
      await read();
      reloads.ok += 1;
    } catch (error) {
      reloads.failed += 1;
      log('error', `${name} stay as they were: ${messageOf(error)}`);
    }
  };
  // One after the other: an older reading that ends late must not overwrite a newer one.
  const reload = (): Promise<void> => (last = last.then(readAgain));
  let seen: string | undefined;
  const look = async (): Promise<void> => {
    const state = await fingerprintLater(patterns());
    if (state === seen && state !== known) await reload();
    seen = state;
  };
  const onError = (error: unknown): void => log('error', `${name} cannot be followed: ${String(error)}`);
  const timer = setInterval(() => void look().catch(onError), pollMs);
  timer.unref();
  return { reloads, reload, close: () => clearInterval(timer) };
}

/** A text that changes if any of the files does. It is made from inode, time and size; no contents are read. */
export function fingerprint(patterns: readonly string[]): string {
  const files = patterns.flatMap((pattern) => [pattern, ...globSync(pattern)]);
  return toFingerprint(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })]));
}

/** The fingerprint of the files, made without blocking the event loop. */
async function fingerprintLater(patterns: readonly string[]): Promise<string> {
  const files: string[] = [];
  for (const pattern of patterns) files.push(pattern, ...(await Array.fromAsync(glob(pattern))));
  return toFingerprint(
    await Promise.all(files.map(async (file) => [file, await stat(file).catch(() => undefined)] as const)),
  );
}

function toFingerprint(files: readonly (readonly [file: string, stats: Stats | undefined])[]): string {
  const states = files.map(([file, stats]) => `${file}:${stats?.ino}:${stats?.mtimeMs}:${stats?.size}`);
  return [...new Set(states)].toSorted().join('\n');
}
