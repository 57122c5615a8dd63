import { globSync, type Stats, statSync } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { messageOf } from './error-text.ts';
import type { Log } from './log.ts';

/** A value that changes while the process runs. */
export interface Changing<T> {
  readonly current: () => T;
  /** Calls the listener with the new value each time that the value has changed. */
  readonly onChange: (listener: (value: T) => void) => void;
  /** The results of reading the value again; undefined if another process reads it. */
  readonly reloads?: Readonly<Reloads> | undefined;
}

/** A changing value and the function that changes it. */
export interface Changeable<T> extends Changing<T> {
  readonly change: (value: T) => void;
}

/** The numbers of attempts to read something again, by result, counted from the start. */
export interface Reloads {
  ok: number;
  /** The number of attempts that changed nothing, because the file could not be used. */
  failed: number;
}

/** A value that this process reads again. */
export interface Followed<T> extends Changing<T> {
  readonly reloads: Readonly<Reloads>;
  /** Reads the value now, whether its files have changed or not. Resolves when it has been read. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** The way to read a value. */
export interface FollowOptions<T> {
  /** The name of the value in the log, in the plural. */
  readonly name: string;
  /** Reads the value for the first time. */
  readonly first: () => T | Promise<T>;
  /**
   * Reads the value again; gives the previous one if it has not changed. Throws, or rejects, if the value cannot be
   * used: such a failure is logged and counted, and the previous value stays.
   */
  readonly again: (previous: T) => T | Promise<T>;
  /**
   * Returns the current paths and globs of the files that the value is read from. A file that was read may name further
   * ones. Without this function, the value is read again at each interval.
   */
  readonly patterns?: () => readonly string[];
  /**
   * The interval at which the files are checked, in milliseconds, by default 500. Changed files are read again as soon
   * as they have stayed the same for that long.
   */
  readonly pollMs?: number | undefined;
  readonly log: Log;
}

/** Makes a value that others change. */
export function changeable<T>(first: T): Changeable<T> {
  const listeners: ((value: T) => void)[] = [];
  let current = first;
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    change: (value) => {
      current = value;
      // If a listener throws, the others still get the value, and the process logs an unhandled rejection.
      for (const listener of listeners) void Promise.try(listener, value);
    },
  };
}

/**
 * Reads a value, and reads it again when its files change. The files are checked at intervals, because not every system
 * announces changes of mounts and links. Rejects if the first reading fails.
 */
export async function follow<T>({
  name,
  first,
  again,
  patterns,
  pollMs = 500,
  log,
}: FollowOptions<T>): Promise<Followed<T>> {
  // Taken before the files are read, so that a file that changes meanwhile is read again.
  let known = patterns && fingerprint(patterns());
  const { current, onChange, change } = changeable(await first());
  const reloads: Reloads = { ok: 0, failed: 0 };
  const readAgain = async (): Promise<void> => {
    try {
      known = patterns && fingerprint(patterns());
      const next = await again(current());
      if (next !== current()) change(next);
      reloads.ok += 1;
    } catch (error) {
      reloads.failed += 1;
      log('error', `${name} stay as they were: ${messageOf(error)}`);
    }
  };
  // One after the other: an older reading that ends late must not overwrite a newer one.
  let last: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => (last = last.then(readAgain));
  let seen: string | undefined;
  const look = async (): Promise<void> => {
    const state = patterns && (await fingerprintLater(patterns()));
    if (state === undefined || (state === seen && state !== known)) await reload();
    seen = state;
  };
  const onError = (error: unknown): void => log('error', `${name} cannot be followed: ${String(error)}`);
  const timer = setInterval(() => void look().catch(onError), pollMs);
  timer.unref();
  return { current, onChange, reloads, reload, close: () => clearInterval(timer) };
}

/** A text that changes if any of the files does. It is made from inode, time and size; no contents are read. */
function fingerprint(patterns: readonly string[]): string {
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
