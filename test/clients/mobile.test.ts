/** The bytes that the mobile clients send, as their sources make them. */
import { expect, test } from 'vitest';
import * as ios from './apollo-ios/apollo-ios.ts';
import * as kotlin from './apollo-kotlin/apollo-kotlin.ts';
import { toOperation } from './support/mobile.ts';

const url = 'http://127.0.0.1:4000/graphql';
const operation = toOperation('query Name($id: ID!) { project(id: $id) { name } }', 'abc');
const variables = { id: 'a/b&c=d+é', after: undefined };

test('Apollo Kotlin asks for a hashed query by GET, with nothing but unreserved characters', () => {
  const sending = { httpMethod: 'GET', sendDocument: false, sendApqExtensions: true } as const;
  const { method, path, headers } = kotlin.compose(url, operation, variables, sending, 'Bearer key');
  expect(method).toBe('GET');
  expect(path).toBe(
    '/graphql?operationName=Name' +
      '&variables=%7B%22id%22%3A%22a%2Fb%26c%3Dd%2B%C3%A9%22%7D' +
      '&extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22abc%22%7D%2C' +
      '%22clientLibrary%22%3A%7B%22name%22%3A%22apollo-kotlin%22%2C%22version%22%3A%225.0.0%22%7D%7D',
  );
  expect(headers?.slice(0, 4)).toEqual([
    'Apollo-Require-Preflight',
    'true',
    'Accept',
    'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json',
  ]);
});

test('Apollo Kotlin sends the text and the hash by POST after a miss', () => {
  const sending = { httpMethod: 'POST', sendDocument: true, sendApqExtensions: true } as const;
  expect(kotlin.compose(url, operation, variables, sending, 'Bearer key')).toMatchObject({
    method: 'POST',
    body:
      '{"operationName":"Name","variables":{"id":"a/b&c=d+é"},' +
      '"query":"query Name($id: ID!) { project(id: $id) { name } }",' +
      '"extensions":{"persistedQuery":{"version":1,"sha256Hash":"abc"},' +
      '"clientLibrary":{"name":"apollo-kotlin","version":"5.0.0"}}}',
  });
});

test('Apollo iOS asks for a hashed query by GET, its keys sorted and its slashes escaped', () => {
  const config = { autoPersistQueries: true, useGETForPersistedQueryRetry: true };
  expect(ios.compose(url, operation, variables, config, false, 'Bearer key')).toMatchObject({
    method: 'GET',
    path:
      '/graphql?extensions=%7B%22clientLibrary%22:%7B%22name%22:%22apollo-ios%22,%22version%22:%222.0.0%22%7D,' +
      '%22persistedQuery%22:%7B%22sha256Hash%22:%22abc%22,%22version%22:1%7D%7D' +
      '&operationName=Name&variables=%7B%22id%22:%22a%5C/b%26c%3Dd%2B%C3%A9%22%7D',
  });
});

test('Apollo iOS sends the text and the hash by POST after a miss', () => {
  const config = { autoPersistQueries: true, useGETForPersistedQueryRetry: false };
  const { method, headers, body } = ios.compose(url, operation, variables, config, true, 'Bearer key');
  expect(method).toBe('POST');
  expect(headers).toContain('multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json');
  expect(body).toBe(
    '{"extensions":{"clientLibrary":{"name":"apollo-ios","version":"2.0.0"},' +
      '"persistedQuery":{"sha256Hash":"abc","version":1}},"operationName":"Name",' +
      '"query":"query Name($id: ID!) { project(id: $id) { name } }","variables":{"id":"a\\/b&c=d+é"}}',
  );
});
