import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Log } from '../log.ts';
import { createTerminal } from './terminal.ts';

/** Characters of lines that are written as one. */
const batchLength = 65_536;

/** The most bytes that a pipe takes in one piece, whatever other processes write to it (POSIX: PIPE_BUF). */
const indivisibleBytes = 4096;

/**
 * The number of lines that are formatted together. A single line takes ten times as long, because the formatting code has
 * left the processor's caches by then: a twentieth of a small operation.
 */
const madeTogether = 64;

/** The longest time that a line waits for others, in milliseconds. */
const longestWaitMs = 200;

/**
 * The file descriptor of standard output. Touching `process.stdout` would make the pipe behind it non-blocking: when the
 * pipe is full, the log would be written only ten times a second, and waiting lines would be lost at the exit.
 */
const standardOutput = 1;

/**
 * The most bytes that wait for a reader that does not read. Further batches are dropped, so that memory does not fill up.
 */
const longestBacklog = 64 * 2 ** 20;

/** The longest time that the last lines wait for their reader, in milliseconds. */
const endTimeoutMs = 1000;

/** A log, and its end. */
export interface Journal {
  readonly log: Logger;
  /** Writes the same lines, of plain data, several times as fast: there is one for each operation. */
  readonly plainLog: Log;
  /** Resolves when every line is written, or the reader has had time for it; nothing is logged after that. */
  readonly end: () => Promise<void>;
}

/** Settings of a log. */
export interface LogOptions {
  readonly logLevel: string;
  /** Undefined: text at a terminal, else JSON. */
  readonly logStyle?: 'json' | 'text' | undefined;
}

/**
 * JSON lines on standard output, written in batches, or lines for people (see terminal.ts). If other processes write to the
 * same output batches are so small that no line gets into another, unless it is longer than a pipe takes in one piece.
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
 * Lines as pino writes them. It looks at each field of a line anew, which cost a small operation a thirtieth. Fields are
 * read later: they must not change.
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

/** Lines on their way to one write. */
export interface Batches extends DestinationStream {
  /** Takes a line that is made with others, before any that is written after it. */
  readonly defer: (make: () => string) => void;
  /** Passes on the lines that wait. */
  readonly flush: () => void;
}

/**
 * Gathers lines before pino's own destination, which measures everything that it holds anew for each line. That cost more
 * than the rest of a small operation. The size of a batch is at most `most`, unless a single line is larger.
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

/** The batch that lines are added to. It is passed on when it is full, or ended, and the next one begins. */
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
