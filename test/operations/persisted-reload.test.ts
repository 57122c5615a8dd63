import { hash } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PersistedSettings } from '../../src/operation/persisted/persisted.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { countsOfDocuments, createFolder, outcomeOf, send } from '../support/persisted.ts';
import { until } from '../support/until.ts';

const upstream = { url: 'http://127.0.0.1:1' };
const unknown = [404, 'PERSISTED_DOCUMENT_NOT_FOUND'];
/** The SHA-256 of `{__typename}`. */
const typenameId = 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38';

interface LoggingGateway extends TestGateway {
  readonly logged: readonly string[];
}

async function start(persisted: PersistedSettings): Promise<LoggingGateway> {
  const logged: string[] = [];
  const gateway = await startGateway(upstream, {
    persisted,
    log: (level, message) => logged.push(`${level}: ${message}`),
  });
  return { ...gateway, logged };
}

async function ask(gateway: TestGateway, id: string): Promise<unknown> {
  return outcomeOf(await send(gateway.url, { id }));
}

describe('At start', () => {
  test('documents of all files that match a glob are listed', async () => {
    using folder = createFolder();
    folder.write('a.json', { a: '{ a: __typename }' });
    folder.write('b.json', [
      ['b', '{ b: __typename }'],
      ['a', '{ a: __typename }'],
    ]);
    folder.write('c.txt', 'not asked for');
    await using typename = await start({ files: folder.write('typename.graphql', '{__typename}\n') });
    const listed = 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38';
    expect(outcomeOf(await send(typename.url, { documentId: `sha256:${listed}` }, { method: 'GET' }))).toEqual([
      200,
      { __typename: 'Query' },
    ]);
    expect(await countsOfDocuments(typename.gateway)).toMatchObject([{ hits: 1 }]);
    await using gateway = await start({ files: join(folder.path, '*.json') });
    expect(await ask(gateway, 'a')).toEqual([200, { a: 'Query' }]);
    expect(await ask(gateway, 'b')).toEqual([200, { b: 'Query' }]);
  });

  test.each([
    ['a.graphql', 'b.json'],
    ['b.graphql', 'a.json'],
  ])('a document of %s may be listed in %s without its last line break', async (file, manifest) => {
    using folder = createFolder();
    const [text, id] = ['{__typename}', typenameId];
    folder.write(file, `${text}\n`);
    folder.write(manifest, { [id]: text });
    await using gateway = await start({ files: folder.path });
    for (const known of [id, hash('sha256', `${text}\n`)])
      expect(await ask(gateway, known)).toEqual([200, { __typename: 'Query' }]);
  });

  test('documents in a folder are listed, and followed as it changes', async () => {
    using folder = createFolder();
    folder.write('a.json', { a: '{ a: __typename }' });
    folder.write('c.txt', 'not asked for');
    await using gateway = await start({ files: folder.path, pollMs: 20 });
    expect(await ask(gateway, 'a')).toEqual([200, { a: 'Query' }]);
    folder.write('b.json', { b: '{ b: __typename }' });
    await until(() => gateway.logged.some((line) => line.includes('read again')));
    expect(await ask(gateway, 'b')).toEqual([200, { b: 'Query' }]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    [
      'a file that is missing',
      {},
      'm.json',
      'm.json: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none',
    ],
    [
      'a glob without a match',
      { 'a.txt': '' },
      '*.json',
      '*.json: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none',
    ],
    ['a folder without any', { 'a.txt': '' }, '', '*.{json,graphql,gql}: expected a file, a folder or a glob, but'],
    ['a file that is no JSON', { 'm.json': 'text' }, 'm.json', 'm.json: it is not JSON'],
    ['another format', { 'm.json': { format: 'x', version: 1 } }, 'm.json', 'm.json: expected format'],
    [
      'one id with two texts',
      { 'a.json': { a: '{ a: __typename }' }, 'b.json': { a: '{ b: __typename }' } },
      '*.json',
      'b.json: the id "a" has two different documents',
    ],
    [
      'one id with two texts, one of them in a GraphQL file',
      { 'a.json': { [typenameId]: '{ b: __typename }' }, 'b.graphql': '{__typename}\n' },
      '',
      `b.graphql: the id "${typenameId}" has two different documents`,
    ],
  ])('%s is an error that names it', async (_name, files, pattern, message) => {
    using folder = createFolder();
    for (const [name, content] of Object.entries(files)) folder.write(name, content);
    await expect(start({ files: join(folder.path, pattern) })).rejects.toThrow(message);
  });

  test('documents that are not valid are named, answer what is wrong, and are an error if the mode is strict', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', {
      good: '{ __typename }',
      bad: '{ nothing }',
      worse: '{',
      part: 'fragment F on Query { __typename }',
    });
    await using gateway = await start({ files });
    expect(gateway.logged.map((line) => line.replaceAll(folder.path, ''))).toEqual([
      'warn: persisted document is not valid: /m.json: bad: Cannot query field "nothing" on type "Query".',
      'warn: persisted document is not valid: /m.json: worse: Syntax Error: Expected Name, found <EOF>.',
      'warn: persisted document is not valid: /m.json: part: Fragment "F" is never used.',
      'info: persisted documents were read',
    ]);
    expect(await ask(gateway, 'good')).toEqual([200, { __typename: 'Query' }]);
    expect(await ask(gateway, 'bad')).toEqual([200, 'GRAPHQL_VALIDATION_FAILED']);
    expect(await ask(gateway, 'worse')).toEqual([200, 'GRAPHQL_PARSE_FAILED']);
    await expect(start({ files, strict: true })).rejects.toThrow(/m\.json: bad: .*; .*m\.json: worse: /);
  });
});

test('the log counts the documents and their operations', async () => {
  using folder = createFolder();
  const files = folder.write('m.json', {
    one: '{ __typename }',
    two: 'query A { a: __typename } query B { b: __typename }',
  });
  let counted: object | undefined;
  await using _ = await startGateway(upstream, {
    persisted: { files },
    log: (_level, _message, fields) => {
      counted = fields;
    },
  });
  expect(counted).toEqual({ files, documents: 2, operations: 3, invalid: 0 });
});

describe('A manifest that changes', () => {
  const text = (index: number): string => `{ a${index}: __typename }`;
  const formats: readonly (readonly [string, string, (count: number) => unknown])[] = [
    ['of relay-compiler', 'm.json', (count) => Object.fromEntries(listOf(count))],
    ['of pairs', 'm.json', (count) => listOf(count)],
    [
      'of Apollo iOS and Kotlin',
      'm.json',
      (count) => Object.fromEntries(listOf(count).map(([id, source]) => [id, { name: id, source }])),
    ],
    [
      'of Apollo Client',
      'm.json',
      (count) => ({
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: listOf(count).map(([id, body]) => ({ id, body })),
      }),
    ],
  ];
  function listOf(count: number): readonly (readonly [id: string, text: string])[] {
    return Array.from({ length: count }, (_, index) => [`id${index}`, text(index)]);
  }
  const isKept = (line: string): boolean => /^error: persisted documents stay as they were: .* a restart/.test(line);

  test.each(formats)('%s is not taken if it has lost most of its documents in mode only', async (_name, file, of) => {
    using folder = createFolder();
    const files = folder.write(file, of(5));
    await using gateway = await start({ files, mode: 'only', pollMs: 20 });
    for (const [index, few] of [of(0), of(2)].entries()) {
      folder.write(file, few);
      await until(() => gateway.logged.filter(isKept).length === index + 1);
      expect(await ask(gateway, 'id4')).toEqual([200, { a4: 'Query' }]);
    }
    folder.write(file, of(3));
    await until(() => gateway.logged.includes('info: persisted documents were read again'));
    expect(await ask(gateway, 'id4')).toEqual(unknown);
    await using restarted = await start({ files: folder.write(file, of(0)), mode: 'only' });
    expect(await ask(restarted, 'id0')).toEqual(unknown);
  });

  test('of GraphQL files is not taken if most of them are gone in mode only', async () => {
    using folder = createFolder();
    const paths = [0, 1, 2].map((index) => folder.write(`${index}.graphql`, text(index)));
    await using gateway = await start({ files: join(folder.path, '*.graphql'), mode: 'only', pollMs: 20 });
    for (const path of paths.slice(1)) rmSync(path);
    await until(() => gateway.logged.some(isKept));
    expect(outcomeOf(await send(gateway.url, { query: text(2) }))).toEqual([200, { a2: 'Query' }]);
  });

  test('is taken however short it is in a mode that runs other documents, too', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', { a: text(1), b: text(2), c: text(3) });
    await using gateway = await start({ files, mode: 'log', pollMs: 20 });
    folder.write('m.json', {});
    await until(() => gateway.logged.includes('info: persisted documents were read again'));
    expect(await ask(gateway, 'a')).toEqual(unknown);
  });

  test('is read again, keeps its counters, and drops what is not listed any more', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', { a: '{ a: __typename }', b: '{ b: __typename }' });
    await using gateway = await start({ files, pollMs: 20 });
    await ask(gateway, 'a');
    // As deployments do: a new file takes the place of the old one.
    renameSync(folder.write('new.json', { a: '{ a: __typename }', c: '{ c: __typename }' }), files);
    await until(async () => JSON.stringify(await ask(gateway, 'c')) === '[200,{"c":"Query"}]');
    expect(await ask(gateway, 'b')).toEqual(unknown);
    expect((await countsOfDocuments(gateway.gateway)).map(({ id, hits }) => [id, hits])).toEqual([
      ['a', 1],
      ['c', 1],
    ]);
  });

  test('and cannot be used changes nothing, and the log says why', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', { a: '{ a: __typename }' });
    await using gateway = await start({ files, strict: true, pollMs: 20 });
    const complaint = (): string | undefined => gateway.logged.findLast((line) => line.startsWith('error'));
    const bad: [unknown, string][] = [
      ['{', 'it is not JSON'],
      [{ a: '{ a: __typename }', b: '{ nothing }' }, 'documents that are not valid'],
      [{ format: 'other' }, 'expected format'],
    ];
    for (const [content, reason] of bad) {
      folder.write('m.json', content);
      await until(() => complaint()?.includes(reason) === true);
      expect(await ask(gateway, 'a')).toEqual([200, { a: 'Query' }]);
      expect(await ask(gateway, 'b')).toEqual(unknown);
      expect((await countsOfDocuments(gateway.gateway)).map(({ id }) => id)).toEqual(['a']);
    }
    rmSync(files);
    await until(() => complaint()?.includes('there is no such file') === true);
    expect(await ask(gateway, 'a')).toEqual([200, { a: 'Query' }]);
    folder.write('m.json', { b: '{ b: __typename }' });
    await until(async () => JSON.stringify(await ask(gateway, 'b')) === '[200,{"b":"Query"}]');
  });

  test('is swapped whole while requests come in', async () => {
    using folder = createFolder();
    const list = (name: string): unknown =>
      Object.fromEntries(
        Array.from({ length: 200 }, (_, index) => [`d${index}`, `{ ${name}: __typename n${index}: __typename }`]),
      );
    const files = folder.write('m.json', list('old'));
    await using gateway = await start({ files, pollMs: 60_000 });
    folder.write('m.json', list('new'));
    const over = new AbortController();
    const reload = gateway.gateway.reload().then(() => over.abort());
    const seen: string[] = [];
    while (!over.signal.aborted) {
      const [first, last] = await Promise.all([ask(gateway, 'd0'), ask(gateway, 'd199')]);
      seen.push([first, last].map((answer) => (JSON.stringify(answer).includes('old') ? 'old' : 'new')).join());
    }
    await reload;
    expect(new Set(seen)).toContain('old,old');
    expect(await ask(gateway, 'd0')).toEqual([200, { new: 'Query', n0: 'Query' }]);
    expect(gateway.reported).toEqual([]);
  });
});
