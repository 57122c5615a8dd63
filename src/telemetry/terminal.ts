import type { PrettyStream } from 'pino-pretty';
import { latePackage } from '../late-packages.ts';

/** Fields that are left out of a line. The text has them already, or they do not matter at a terminal. */
const ignoredFields = 'pid,hostname,requestId,document,operationName,durationMs,calls,plannedCalls,codes';

/**
 * Formats the JSON lines of the log for people, one line for each operation: `Overview 38.1 ms, 5 calls`, followed by
 * the codes of its errors. Writes to standard output unless another destination is given.
 */
export function createTerminal(destination: 1 | NodeJS.WritableStream = 1): PrettyStream {
  return latePackage('pino-pretty').PinoPretty({
    destination,
    sync: true,
    singleLine: true,
    ignore: ignoredFields,
    messageFormat: (record, messageKey) => printable(wordsOf(record, String(record[messageKey]))),
  });
}

function wordsOf(record: Readonly<Record<string, unknown>>, message: string): string {
  const { operationName, durationMs, calls, codes } = record;
  const name = typeof operationName === 'string' ? operationName : '';
  if (typeof durationMs !== 'number') return `${message} ${name}`.trimEnd();
  const cost = `${durationMs.toFixed(1)} ms, ${String(calls)} ${calls === 1 ? 'call' : 'calls'}`;
  const failures = Array.isArray(codes) ? codes.map((code) => ` ${String(code)}`).join('') : '';
  return `${name || 'anonymous'} ${cost}${failures}`;
}

/** A text without control characters, because a client's text must not move the cursor. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?');
}
