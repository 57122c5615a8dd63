import { expect, test } from 'vitest';
import { negotiate } from '../../src/http/answer.ts';

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
  [`${json};charset=latin1`, undefined],
  ['text/html, application/xml;q=0.9, */*;q=0.8', json],
  ['text/html', undefined],
  [',,;;=', undefined],
])('a client that accepts %j is answered as %s', (accept, expected) => {
  expect(negotiate(accept)).toBe(expected);
});
