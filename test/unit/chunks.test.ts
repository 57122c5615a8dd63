import { expect, test } from 'vitest';
import { Chunks } from '../../src/rest/transport/chunks.ts';

/** The memory that a body takes whose pieces have 100 bytes each, after each piece. */
function memoryOf(pieces: number, expected: number | undefined): readonly number[] {
  const chunks = new Chunks();
  chunks.expected = expected;
  return Array.from({ length: pieces }, () => {
    chunks.addCopy(Buffer.alloc(100, 'x'));
    return chunks.join().buffer.byteLength;
  }).slice(1);
}

test('a body of unknown length grows by doubling, and one of known length to its length', () => {
  expect(memoryOf(5, undefined)).toEqual([400, 400, 400, 1000]);
  expect(memoryOf(5, 500)).toEqual([400, 400, 400, 500]);
});

test('a body that grows beyond its expected length is complete', () => {
  expect(memoryOf(4, 250)).toEqual([250, 300, 400]);
});
