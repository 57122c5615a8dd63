import { type DestinationStream, type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** Characters of lines that are written as one. */
const batchLength = 65_536;

/** The most that a pipe takes in one piece whoever else writes to it (POSIX: PIPE_BUF). */
const indivisibleLength = 4096;

/** How long a line may wait for others, in milliseconds. */
const longestWaitMs = 200;

/**
 * JSON lines on standard output, written in batches; at a terminal lines for people. Nothing is lost at a proper exit.
 * Where other processes write to the same output batches are so small that no line gets into another.
 */
export function createLog(level: string, isShared: boolean): Logger {
  if (process.stdout.isTTY) return pino({ level }, PinoPretty({ sync: true }));
  return pino(
    { level },
    isShared ? batches(indivisibleLength, indivisibleLength) : batches(batchLength, 2 * batchLength),
  );
}

/**
 * Gathers lines before pino's own destination, which measures everything that it holds anew for each line: with a batch
 * of this size that cost more than the rest of a small operation.
 */
function batches(most: number, maxWrite: number): DestinationStream {
  const destination = pino.destination({ sync: false, maxWrite });
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const pass = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (text !== '') destination.write(text);
    text = '';
  };
  process.on('exit', () => {
    pass();
    destination.flushSync();
  });
  return {
    write: (line) => {
      if (text.length + line.length > most) pass();
      text += line;
      if (text.length >= most) pass();
      else timer ??= setTimeout(pass, longestWaitMs).unref();
    },
  };
}
