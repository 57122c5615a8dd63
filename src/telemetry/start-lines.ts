import { writeSync } from 'node:fs';
import { format } from 'node:util';
import { pino } from 'pino';
import { type Log, LogThrottle } from '../log.ts';

const words = { warn: 'warning', fatal: 'error' } as const;

/**
 * Writes a line to standard error before there is a log or after its end. With `inJson`, the line has the form of the
 * log.
 */
export function printProblem(severity: keyof typeof words, message: string, inJson: boolean): void {
  if (inJson) logTo(2)[severity](message);
  else process.stderr.write(`${words[severity]}: ${message}\n`);
}

/** The most characters that a message quotes of the output of Node or of a library. The field `text` has all of it. */
const longestLine = 200;

/**
 * Announces the server and its address: as text for people, or as a line in the form of the log. The line is written
 * at every level of the log.
 */
export function announceServer(text: string, fields: Readonly<Record<string, unknown>>, inJson: boolean): void {
  if (inJson) logTo(1).info(fields, 'serving');
  else writeSync(1, `${text}\n`);
}

/**
 * Turns the output of Node and of libraries, such as warnings, into lines of the log. They go to standard error until
 * there is a log. The same text is written at most once a minute.
 */
export function logForeignLines(log: Log = (level, message, fields) => logTo(2)[level](fields, message)): void {
  const written = new LogThrottle();
  const write = (message: string, text: string, fields: object = {}): void => {
    if (written.mayLog(text)) log('warn', message, { text, ...fields });
  };
  // Node's own listener would print the warning as well.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => write(`warning of Node: ${beginningOf(message)}`, message, { name }));
  for (const method of ['debug', 'log', 'info', 'warn', 'error'] as const)
    console[method] = (...values: readonly unknown[]) => {
      const text = format(...values);
      write(`a library says: ${beginningOf(text)}`, text);
    };
}

function beginningOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.slice(0, longestLine);
}

function logTo(descriptor: 1 | 2): pino.Logger {
  return pino({}, { write: (line) => void writeSync(descriptor, line) });
}
