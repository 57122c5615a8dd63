import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createJsonLog, createLines } from '../../src/telemetry/log.ts';

const bytesOf = (line: string): number => Buffer.byteLength(line);

test.each(['a', 'é', '漢', '🙂'])('lines of %s are gathered by their bytes, in order, and none is cut', (letter) => {
  const passed: string[] = [];
  const batches = createLines(100, bytesOf, (batch) => void passed.push(batch));
  const lines = Array.from({ length: 50 }, (_, index) => `${letter.repeat(index % 9)}${index}\n`);
  for (const line of lines) batches.add(() => line);
  batches.flush();
  expect(passed.join('')).toBe(lines.join(''));
  expect(passed.filter((batch) => Buffer.byteLength(batch) > 100 || !batch.endsWith('\n'))).toEqual([]);
  expect(passed.length).toBeLessThan(lines.length / 2);
});

test('a line that is larger than a batch goes alone', () => {
  const passed: string[] = [];
  const batches = createLines(10, bytesOf, (batch) => void passed.push(batch));
  for (const line of ['one\n', '漢漢漢漢\n', 'two\n']) batches.add(() => line);
  batches.flush();
  expect(passed).toEqual(['one\n', '漢漢漢漢\n', 'two\n']);
});

test('a line stands in the log as pino writes it', () => {
  const written: string[] = [];
  const lines = createLines(1, bytesOf, (line) => void written.push(line));
  const byPino = pino({ level: 'info' }, { write: (line) => void written.push(line) });
  const log = createJsonLog('info', lines);
  for (const fields of [
    {},
    { count: 1, absent: undefined, text: 'a "b"\n\u2028', list: ['c'], none: null, share: 0.5 },
  ]) {
    byPino.warn(fields, 'told');
    log('warn', 'told', fields);
    lines.flush();
  }
  const untimed = written.map((line) => line.replace(/"time":\d+/, '"time":0'));
  expect(untimed).toHaveLength(4);
  expect([untimed[1], untimed[3]]).toEqual([untimed[0], untimed[2]]);
});

test('a line below the level of the log is not written', () => {
  const written: string[] = [];
  const lines = createLines(1, bytesOf, (line) => void written.push(line));
  const log = createJsonLog('warn', lines);
  log('info', 'operation');
  log('error', 'fault');
  lines.flush();
  expect(written.map((line): unknown => JSON.parse(line))).toMatchObject([{ level: 50, msg: 'fault' }]);
});

test('lines that are made together stand in the log in the order in which they were logged', () => {
  const passed: string[] = [];
  const batches = createLines(1_000_000, bytesOf, (batch) => void passed.push(batch));
  const lines = Array.from({ length: 500 }, (_, index) => `${index}\n`);
  for (const line of lines) batches.add(() => line);
  batches.flush();
  expect(passed).toEqual([lines.join('')]);
});

test('a line keeps the time at which it was logged, and not that at which it was made', () => {
  const written: string[] = [];
  const lines = createLines(1, bytesOf, (line) => void written.push(line));
  const log = createJsonLog('info', lines);
  vi.useFakeTimers({ now: 1000 });
  try {
    log('info', 'first');
    vi.setSystemTime(2000);
    log('info', 'second');
    lines.flush();
  } finally {
    vi.useRealTimers();
  }
  expect(written.map((line): unknown => JSON.parse(line))).toMatchObject([{ time: 1000 }, { time: 2000 }]);
});
