import { type DestinationStream, type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** Characters of lines that are written as one. */
const batchLength = 65_536;

/** How long a line may wait for others, in milliseconds. */
const longestWaitMs = 200;

/** JSON lines on standard output, written in batches; at a terminal lines for people. Nothing is lost at a proper exit. */
export function createLog(level: string): Logger {
  return pino({ level }, process.stdout.isTTY ? PinoPretty({ sync: true }) : batches());
}

/**
 * Gathers lines before pino's own destination, which measures everything that it holds anew for each line: with a batch
 * of this size that cost more than the rest of a small operation.
 */
function batches(): DestinationStream {
  const destination = pino.destination({ sync: false, maxWrite: 2 * batchLength });
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
      text += line;
      if (text.length >= batchLength) pass();
      else timer ??= setTimeout(pass, longestWaitMs).unref();
    },
  };
}
