import { expect, test } from 'vitest';
import { createBatches } from '../../src/telemetry/log.ts';

const bytesOf = (line: string): number => Buffer.byteLength(line);

test.each(['a', 'é', '漢', '🙂'])('lines of %s are gathered by their bytes, in order, and none is cut', (letter) => {
  const passed: string[] = [];
  const batches = createBatches(100, bytesOf, (batch) => void passed.push(batch));
  const lines = Array.from({ length: 50 }, (_, index) => `${letter.repeat(index % 9)}${index}\n`);
  for (const line of lines) batches.write(line);
  batches.flush();
  expect(passed.join('')).toBe(lines.join(''));
  expect(passed.filter((batch) => Buffer.byteLength(batch) > 100 || !batch.endsWith('\n'))).toEqual([]);
  expect(passed.length).toBeLessThan(lines.length / 2);
});

test('a line that is larger than a batch goes alone', () => {
  const passed: string[] = [];
  const batches = createBatches(10, bytesOf, (batch) => void passed.push(batch));
  for (const line of ['one\n', '漢漢漢漢\n', 'two\n']) batches.write(line);
  batches.flush();
  expect(passed).toEqual(['one\n', '漢漢漢漢\n', 'two\n']);
});
