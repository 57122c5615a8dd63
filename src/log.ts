import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** Characters of lines that are written as one. */
const batchLength = 65_536;

/** The most that a pipe takes in one piece whoever else writes to it (POSIX: PIPE_BUF). */
const indivisibleLength = 4096;

/** How long a line may wait for others, in milliseconds. */
const longestWaitMs = 200;

/**
 * A file descriptor, because to touch `process.stdout` makes the pipe behind it non-blocking: when it is full the log would
 * be written ten times a second only, and lose at the exit what waits.
 */
const standardOutput = 1;

/** What waits at most for a reader that does not read; beyond it batches are dropped, and memory is not filled. */
const longestBacklog = 64 * 2 ** 20;

/** How long the last lines may wait for whoever reads them, in milliseconds. */
const endPatienceMs = 1000;

/** A log, and its end. */
export interface Journal {
  readonly log: Logger;
  /** Resolves when every line is written, or the reader has had time for it; nothing is logged after that. */
  readonly end: () => Promise<void>;
}

/**
 * JSON lines on standard output, written in batches; at a terminal lines for people. Where other processes write to the
 * same output batches are so small that no line gets into another.
 */
export function createLog(level: string, isShared: boolean): Journal {
  if (isatty(standardOutput)) return { log: pino({ level }, PinoPretty({ sync: true })), end: () => Promise.resolve() };
  const [most, maxWrite] = isShared ? [indivisibleLength, indivisibleLength] : [batchLength, 2 * batchLength];
  const lines = batches(most, maxWrite);
  return { log: pino({ level }, lines), end: lines.end };
}

/**
 * Gathers lines before pino's own destination, which measures everything that it holds anew for each line: with a batch
 * of this size that cost more than the rest of a small operation.
 */
function batches(most: number, maxWrite: number): DestinationStream & { readonly end: () => Promise<void> } {
  const destination = pino.destination({ sync: false, maxWrite, maxLength: longestBacklog });
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  let isEnding = false;
  const pass = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (text !== '' && !isEnding) destination.write(text);
    text = '';
  };
  process.on('exit', () => {
    pass();
    if (!isEnding) destination.flushSync();
  });
  return {
    write: (line) => {
      if (text.length + line.length > most) pass();
      text += line;
      if (text.length >= most) pass();
      else timer ??= setTimeout(pass, longestWaitMs).unref();
    },
    end: () =>
      new Promise((resolve) => {
        pass();
        isEnding = true;
        setTimeout(resolve, endPatienceMs);
        destination.once('finish', resolve);
        destination.end();
      }),
  };
}
