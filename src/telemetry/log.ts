import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Log } from '../log.ts';
import { createTerminal } from './terminal.ts';

/** The number of characters of lines that are written together. */
const batchLength = 65_536;

/** The most bytes that a pipe takes in one piece, whatever other processes write to it (POSIX: PIPE_BUF). */
const indivisibleBytes = 4096;

/**
 * The number of lines that are formatted together. A single line would take ten times as long, a twentieth of a small
 * operation, because the formatting code would have left the processor's caches.
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

/** A log that can be ended. */
export interface Journal {
  readonly log: Logger;
  /** Writes the same lines several times as fast, for plain data only. It is used for the line of each operation. */
  readonly plainLog: Log;
  /**
   * Resolves when every line has been written, or when the time for the reader is over. Nothing is logged after that.
   */
  readonly end: () => Promise<void>;
}

/** Settings of a log. */
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
    const log = pino({ level }, createTerminal());
    const plainLog: Log = (severity, message, fields = {}) => log[severity](fields, message);
    return { log, plainLog, end: () => Promise.resolve() };
  }
  const maxWrite = isShared ? indivisibleBytes : 2 * batchLength;
  const destination = pino.destination({ sync: false, maxWrite, maxLength: longestBacklog });
  let isEnding = false;
  const pass = (batch: string): void => {
    if (!isEnding) destination.write(batch);
  };
  const lines = isShared ? createBatches(indivisibleBytes, bytesOf, pass) : createBatches(batchLength, lengthOf, pass);
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
  const log = pino({ level }, lines);
  return { log, plainLog: createPlainLog(log, lines), end };
}

/**
 * Makes a log that writes lines in pino's form. pino examines each field of every line, which would take a thirtieth of
 * a small operation. Fields are read later, so they must not change.
 */
export function createPlainLog(log: Logger, lines: Pick<Batches, 'defer'>): Log {
  const { values } = pino.levels;
  const origin = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
  return (severity, message, fields = {}) => {
    if (!log.isLevelEnabled(severity)) return;
    const time = Date.now();
    lines.defer(() => {
      const members = JSON.stringify({ ...fields, msg: message }).slice(1);
      return `{"level":${values[severity]},"time":${time},${origin},${members}\n`;
    });
  };
}

/** Lines that are gathered for one write. */
export interface Batches extends DestinationStream {
  /** Takes a line that is formatted together with others. It stays before any line that is written later. */
  readonly defer: (make: () => string) => void;
  /** Passes on the waiting lines. */
  readonly flush: () => void;
}

/**
 * Gathers lines before pino's own destination, which measures its whole buffer again for each line. That would cost
 * more than the rest of a small operation. A batch has at most the size `most`, unless a single line is larger.
 */
export function createBatches(most: number, sizeOf: (line: string) => number, pass: (batch: string) => void): Batches {
  const batch = createBatch(most, sizeOf, pass);
  const deferred: (() => string)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const addDeferred = (): void => {
    for (const make of deferred.splice(0)) batch.add(make());
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    addDeferred();
    batch.end();
  };
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, longestWaitMs).unref();
  };
  return {
    flush,
    write: (line) => {
      addDeferred();
      batch.add(line);
      flushSoon();
    },
    defer: (make) => {
      if (deferred.push(make) >= madeTogether) addDeferred();
      flushSoon();
    },
  };
}

/** Makes the batch that lines are added to. When it is full or ended, it is passed on and the next batch begins. */
function createBatch(
  most: number,
  sizeOf: (line: string) => number,
  pass: (batch: string) => void,
): { readonly add: (line: string) => void; readonly end: () => void } {
  let text = '';
  let size = 0;
  const end = (): void => {
    if (text !== '') pass(text);
    text = '';
    size = 0;
  };
  return {
    end,
    add: (line) => {
      const more = sizeOf(line);
      if (size + more > most) end();
      text += line;
      size += more;
      if (size >= most) end();
    },
  };
}

function bytesOf(line: string): number {
  return Buffer.byteLength(line);
}

function lengthOf(line: string): number {
  return line.length;
}
