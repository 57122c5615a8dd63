import { writeSync } from 'node:fs';
import { pino } from 'pino';

/** The words of a severity in a line for people. */
const words = { warn: 'warning', fatal: 'error' } as const;

/** Writes a line to standard error that belongs to no log yet, or to none any more: as a line of the log if it is to be JSON. */
export function complain(severity: keyof typeof words, message: string, inJson: boolean): void {
  if (inJson) logTo(2)[severity](message);
  else process.stderr.write(`${words[severity]}: ${message}\n`);
}

/** Writes what serves, and where: as text for people, or as one line of the log whatever its level is. */
export function greet(text: string, fields: Readonly<Record<string, unknown>>, inJson: boolean): void {
  if (inJson) logTo(1).info(fields, 'serving');
  else writeSync(1, `${text}\n`);
}

function logTo(descriptor: 1 | 2): pino.Logger {
  return pino({}, { write: (line) => void writeSync(descriptor, line) });
}
