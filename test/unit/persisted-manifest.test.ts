import { describe, expect, test } from 'vitest';
import { paramsOfBody, paramsOfUrl } from '../../src/http/request.ts';
import { documentIdOf, hashOf, toDocumentId } from '../../src/operation/persisted/ids.ts';
import { readManifest } from '../../src/operation/persisted/manifest.ts';

const text = '{__typename}';
const hash = 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38';
const entries = (pairs: readonly (readonly [string, string])[]): unknown =>
  pairs.map(([id, document]) => ({ id, aliases: [], text: document, file: 'm.json' }));

describe('The id of a text', () => {
  test.each([
    [text, hash],
    [
      'query ($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}',
      '7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e',
    ],
    ['query($id:ID!){user(id:$id){name}}', '71f7dc5758652baac68e4a10c50be732b741c892ade2883a99358f52b555286b'],
  ])('is the SHA-256 of the appendix: %j', (source, expected) => {
    expect(hashOf(source)).toBe(expected);
  });

  test.each(['a94a8fe5ccb19ba61c4c0873d391e987982fbbd3', 'AbC', 'x-own:1', `sha1:${hash}`, `${hash}0`])(
    'of another kind stays as it is: %s',
    (id) => {
      expect(toDocumentId(id)).toBe(id);
    },
  );
});

describe('The id in a request', () => {
  test.each([
    [{ documentId: hash, extensions: { persistedQuery: { version: 1, sha256Hash: hash.toUpperCase() } } }, true],
    [{ documentId: hash, extensions: { clientLibrary: { name: 'x', version: '1' } } }, false],
    [{ extensions: { persistedQuery: { version: 1, sha256Hash: hash, miss: true } } }, true],
    [{ id: null, documentId: hash, doc_id: '' }, false],
  ])('is found: %j', (params, isAutomatic) => {
    const expected = { id: hash, automatic: isAutomatic };
    expect(documentIdOf(paramsOfBody(JSON.stringify(params), 100))).toEqual(expected);
    const search = Object.entries(params).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value),
    ]);
    expect(documentIdOf(paramsOfUrl(`/graphql?${new URLSearchParams(search)}`, 100))).toEqual(expected);
  });

  test.each([{ query: text }, { query: text, extensions: {} }, { extensions: { persistedQuery: null } }])(
    'is absent: %j',
    (params) => {
      expect(documentIdOf(paramsOfBody(JSON.stringify(params), 100))).toBeUndefined();
    },
  );

  test.each([
    [{ documentId: 7 }, 'Expected `documentId` to be a string.'],
    [{ documentId: 'a', id: 'b' }, 'Expected one id of a document, but got two different ones.'],
    [{ extensions: { persistedQuery: [] } }, 'Expected `extensions.persistedQuery` to be an object.'],
    [{ extensions: { persistedQuery: { sha256Hash: hash } } }, 'Expected `extensions.persistedQuery.version` to be 1.'],
    [
      { extensions: { persistedQuery: { version: 1 } } },
      'Expected `extensions.persistedQuery.sha256Hash` to be the SHA-256 of the document.',
    ],
  ])('is refused if it is malformed: %j', (params, message) => {
    expect(() => documentIdOf(paramsOfBody(JSON.stringify(params), 100))).toThrow(message);
  });
});

describe('A manifest', () => {
  const apollo = { format: 'apollo-persisted-query-manifest', version: 1 };

  test.each<[string, unknown, readonly (readonly [string, string])[]]>([
    ['of Apollo', { ...apollo, operations: [{ id: hash, name: 'A', type: 'query', body: text }] }, [[hash, text]]],
    ['of Apollo iOS, legacy', { [hash]: { name: 'A', source: text } }, [[hash, text]]],
    ['of Apollo Kotlin, legacy', { [hash]: { name: 'A', source: text, type: 'query' } }, [[hash, text]]],
    [
      'of relay-compiler',
      { '0f1c2': text, b: '{ b }' },
      [
        ['0f1c2', text],
        ['b', '{ b }'],
      ],
    ],
    ['of pairs', [['0f1c2', text]], [['0f1c2', text]]],
    [
      'of the client preset, sha1',
      { a94a8fe5ccb19ba61c4c0873d391e987982fbbd3: text },
      [['a94a8fe5ccb19ba61c4c0873d391e987982fbbd3', text]],
    ],
    ['of the client preset, sha256', { [`sha256:${hash}`]: text }, [[hash, text]]],
    ['that is empty', {}, []],
    ['that is an empty list', [], []],
  ])('%s is read', (_name, manifest, expected) => {
    expect(readManifest('m.json', JSON.stringify(manifest))).toEqual(entries(expected));
    expect(readManifest('m.json', `\uFEFF${JSON.stringify(manifest)}`)).toEqual(entries(expected));
  });

  test('in GraphQL has the SHA-256 of the file, and of the document without the line break at its end', () => {
    expect(readManifest('a.graphql', text)).toEqual([{ id: hash, aliases: [hash], text, file: 'a.graphql' }]);
    const file = `${text}\n`;
    expect(readManifest('a.gql', file)).toEqual([{ id: hashOf(file), aliases: [hash], text: file, file: 'a.gql' }]);
  });

  test.each<[unknown, string]>([
    ['{', 'm.json: it is not JSON'],
    ['7', 'm.json: expected an object or a list'],
    [
      { format: 'apollo-persisted-query-manifest', version: 2, operations: [] },
      'm.json: expected format "apollo-persisted-query-manifest", version 1, but got format "apollo-persisted-query-manifest", version 2',
    ],
    [
      { format: 'other', version: 1, operations: [] },
      'm.json: expected format "apollo-persisted-query-manifest", version 1, but got format "other", version 1',
    ],
    [{ operations: [] }, 'but got format none, version none'],
    [{ ...apollo }, 'm.json: expected `operations` to be a list'],
    [{ ...apollo, operations: [{ id: 'a' }] }, 'm.json: expected operations[0] to be `id` and `body`'],
    [{ ...apollo, operations: [null] }, 'm.json: expected operations[0] to be `id` and `body`'],
    [[['a']], 'm.json: expected [0] to be a pair of an id and a text'],
    [['a'], 'm.json: expected [0] to be a pair of an id and a text'],
    [{ a: 7 }, 'm.json: expected "a" to be a text, or an object with a `source`'],
    [{ a: { name: 'A' } }, 'm.json: expected "a" to be a text, or an object with a `source`'],
    [{ '': text }, 'm.json: expected "" to be a text'],
  ])('that cannot be used is named with the reason: %j', (manifest, message) => {
    const json = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    expect(() => readManifest('m.json', json)).toThrow(message);
  });
});
