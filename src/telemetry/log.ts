import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { Log } from '../log.ts';
import { createTerminal } from './terminal.ts';

/** The size of a batch of lines that are written together, in characters. */
const batchLength = 65_536;

/** The most bytes that a pipe takes in one piece, whatever other processes write to it (POSIX: PIPE_BUF). */
const indivisibleBytes = 4096;

/**
 * The number of lines that are formatted together. A line that is formatted alone takes ten times as long, because the
 * processor has to load the formatting code from memory again. The difference is a twentieth of the time of a small
 * operation.
 */
const madeTogether = 64;

/** The longest time that a line waits for others, in milliseconds. */
const longestWaitMs = 200;

/**
 * The file descriptor of standard output. `process.stdout` is avoided, because it makes the pipe behind it
 * non-blocking: with a full pipe, the log would be written only ten times a second, and waiting lines would be lost at
 * the exit.
 */
const standardOutput = 1;

/** The most bytes that wait for a reader that has stopped reading. Further batches are dropped to bound memory. */
const longestBacklog = 64 * 2 ** 20;

/** The longest time that the last lines wait for their reader, in milliseconds. */
const endTimeoutMs = 1000;

export interface Journal {
  readonly log: Log;
  /**
   * Resolves when every line has been written, or when the time for the reader is over. Nothing is logged after that.
   */
  readonly end: () => Promise<void>;
}

export interface LogOptions {
  readonly logLevel: string;
  /** The form of the lines. If undefined: text at a terminal, otherwise JSON. */
  readonly logStyle?: 'json' | 'text' | undefined;
}

/**
 * Makes a log with JSON lines on standard output, written in batches, or with lines for people (see terminal.ts). If
 * other processes write to the same output, a batch is at most what a pipe takes in one piece, so that lines do not
 * mix. Only a longer line may be split.
 */
export function createLog({ logLevel: level, logStyle }: LogOptions, isShared: boolean): Journal {
  if (logStyle === 'text' || (logStyle === undefined && isatty(standardOutput))) {
    const terminal = pino({ level }, createTerminal());
    return {
      log: (severity, message, fields = {}) => terminal[severity](fields, message),
      end: () => Promise.resolve(),
    };
  }
  const maxWrite = isShared ? indivisibleBytes : 2 * batchLength;
  const destination = pino.destination({ sync: false, maxWrite, maxLength: longestBacklog });
  let isEnding = false;
  const pass = (batch: string): void => {
    if (!isEnding) destination.write(batch);
  };
  const lines = isShared
    ? createLines(indivisibleBytes, (line) => Buffer.byteLength(line), pass)
    : createLines(batchLength, (line) => line.length, pass);
  process.on('exit', () => {
    lines.flush();
    if (!isEnding) destination.flushSync();
  });
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      lines.flush();
      isEnding = true;
      setTimeout(resolve, endTimeoutMs);
      destination.once('finish', resolve);
      destination.end();
    });
  return { log: createJsonLog(level, lines), end };
}

/**
 * Makes a log that writes lines in pino's form, for plain data only. pino examines each field of every line, which
 * would take a thirtieth of a small operation. Fields are read later, so they must not change.
 */
export function createJsonLog(level: string, lines: Pick<Lines, 'add'>): Log {
  const { values } = pino.levels;
  // The level `silent` has no number.
  const least = values[level] ?? Number.POSITIVE_INFINITY;
  const origin = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
  return (severity, message, fields = {}) => {
    const number = values[severity] ?? 0;
    if (number < least) return;
    const time = Date.now();
    lines.add(() => {
      const members = JSON.stringify({ ...fields, msg: message }).slice(1);
      return `{"level":${number},"time":${time},${origin},${members}\n`;
    });
  };
}

/** The fields of a line about what was thrown, with its stack. */
export function thrown(error: unknown): object {
  return { err: error instanceof Error ? pino.stdSerializers.err(error) : error };
}

export interface Lines {
  /** Takes a line, which is formatted later together with others. */
  readonly add: (make: () => string) => void;
  readonly flush: () => void;
}

/** Gathers lines. A batch has at most the size `most`, unless a single line is larger. */
export function createLines(most: number, sizeOf: (line: string) => number, pass: (batch: string) => void): Lines {
  const waiting: (() => string)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let batch = '';
  let size = 0;
  const passOn = (): void => {
    if (batch !== '') pass(batch);
    batch = '';
    size = 0;
  };
  const format = (): void => {
    for (const make of waiting.splice(0)) {
      const line = make();
      const more = sizeOf(line);
      if (size + more > most) passOn();
      batch += line;
      size += more;
      if (size >= most) passOn();
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    format();
    passOn();
  };
  return {
    flush,
    add: (make) => {
      if (waiting.push(make) >= madeTogether) format();
      timer ??= setTimeout(flush, longestWaitMs).unref();
    },
  };
}
