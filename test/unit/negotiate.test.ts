import { expect, test } from 'vitest';
import { negotiate } from '../../src/http/negotiation.ts';

const json = 'application/json';
const graphql = 'application/graphql-response+json';

test.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['application/*', json],
  ['Application/JSON', json],
  [graphql, graphql],
  [`${graphql}, ${json}`, graphql],
  [`${json}, ${graphql}`, json],
  [`${graphql};q=0.5, ${json}`, json],
  [`${json};q=0.9, ${graphql}`, graphql],
  [`${json}; q=0.3 , ${graphql};q=0.4`, graphql],
  [`${graphql}, ${json};q=0.9, */*;q=0.1`, graphql],
  [`${graphql}, */*`, graphql],
  [`*/*;q=0.1, ${graphql};q=0.2`, graphql],
  [`${json};q=0, */*`, graphql],
  [`${graphql};q=0, */*`, json],
  [`${json};q=0, ${graphql};q=0`, undefined],
  ['*/*;q=0', undefined],
  [`${json};q=abc`, json],
  [`${json};charset=utf-8;q=0.2, ${graphql};q=0.1`, json],
  [`${json};q=0.5, ${graphql}`, graphql],
  [`${json};q=2, ${graphql};q=1`, json],
  [`${graphql};q=1, ${json};q=2`, graphql],
  [`${graphql};charset="utf-8"`, graphql],
  [`${json};charset=latin1`, undefined],
  ['text/html, application/xml;q=0.9, */*;q=0.8', json],
  ['text/html', undefined],
  [',,;;=', undefined],
])('a client that accepts %j is answered as %s', (accept, expected) => {
  // The second time it is remembered.
  for (const _ of ['first', 'second']) expect(negotiate(accept).document).toBe(expected);
});

test('more texts of the header than are remembered, and longer ones, are answered as they should', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 300; index += 1) {
      const padding = 'x'.repeat(index);
      expect(negotiate(`${json};q=0.${index}, ${graphql};p=${padding}`).document).toBe(graphql);
      expect(negotiate(`${json};p=${padding}, ${graphql};q=0.${index}`).document).toBe(json);
    }
  }
});
