import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createTerminal } from '../../src/telemetry/terminal.ts';

/** A record as a terminal shows it, without its time. */
function shown(facts: object, message: string): string {
  let text = '';
  const terminal = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  pino(createTerminal(terminal)).info(facts, message);
  return text.replace(/^\[[\d:.]+\] /, '');
}

const operation = { requestId: 'r1', operationName: 'Overview', durationMs: 38.133559, calls: 5, codes: [] };

test('an operation is one line at a terminal, its milliseconds with one decimal', () => {
  expect(shown({ ...operation, caller: 'FwvXC3_n' }, 'operation')).toBe('INFO <FwvXC3_n>: Overview 38.1 ms, 5 calls\n');
  const failed = { ...operation, operationName: undefined, calls: 1, codes: ['FORBIDDEN', 'NOT_FOUND'] };
  expect(shown(failed, 'operation')).toBe('INFO: anonymous 38.1 ms, 1 call FORBIDDEN NOT_FOUND\n');
});

test('other lines keep their facts at a terminal, and no text moves its cursor', () => {
  expect(shown({ worker: 2, how: 'SIGKILL' }, 'a worker ended')).toBe(
    'INFO: a worker ended {"worker":2,"how":"SIGKILL"}\n',
  );
  expect(shown({ operationName: 'A\u001B[2J\u009B1m' }, 'a document that is not listed was sent')).toBe(
    'INFO: a document that is not listed was sent A?[2J?1m\n',
  );
});
