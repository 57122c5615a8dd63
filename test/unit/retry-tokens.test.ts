import { expect, test } from 'vitest';
import { RetryTokens } from '../../src/rest/resilience/retry-policy.ts';

test('retries are at most a fifth of the reads, and ten', () => {
  for (const reads of [0, 1, 10, 1000, 12_345]) {
    const tokens = new RetryTokens();
    let retries = 0;
    for (let read = 0; read < reads; read += 1) {
      tokens.earn();
      while (tokens.spend()) retries += 1;
    }
    expect(retries).toBeLessThanOrEqual(0.2 * reads + 10);
  }
});

test('a long calm saves up no more than ten retries', () => {
  const tokens = new RetryTokens();
  for (let read = 0; read < 10_000; read += 1) tokens.earn();
  let retries = 0;
  while (tokens.spend()) retries += 1;
  expect(retries).toBe(10);
});
