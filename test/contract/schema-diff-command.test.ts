import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemaDiff } from '../../src/commands/schema.ts';
import { ConfigError } from '../../src/config-error.ts';
import { createReader } from '../../src/settings/config.ts';
import { blocksOf } from '../support/documentation.ts';

const served = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schema-diff-'));
  const old = served
    .replace('\n  tiles: [JSON]', '\n  tiles: JSON\n\n  grid: JSON')
    .replace('\n  ONLY_INVITED_CAN_EDIT\n', '\n  ONLY_INVITED_CAN_EDIT\n\n  NO_EDIT\n');
  const manifest = {
    one: 'query One { project(id: 1) { dashboards { nodes { ...Card } } } } fragment Card on Dashboard { tiles }',
    two: 'query Two { project(id: 1) { name } }',
  };
  const change =
    'mutation Change($input: UpdateDashboardInput!) { updateDashboard(input: $input) { dashboard { id } } }';
  const row = { operation: 'One', document: 'one', errors: 0, restCalls: 1 };
  const usage = {
    operations: [
      { ...row, client: 'web', version: '1', operations: 7, lastAt: '2026-11-23T10:00:00.000Z' },
      { ...row, client: 'web', version: '2', document: 'two', operations: 9, lastAt: '2026-11-23T10:00:00.000Z' },
      {
        ...row,
        client: '',
        version: '',
        operation: 'Change',
        document: null,
        operations: 2,
        lastAt: '2026-11-22T10:00:00.000Z',
      },
    ],
    deprecated: [
      { client: 'ios', version: '', coordinate: 'Dashboard.grid', uses: 1, lastAt: '2026-11-21T10:00:00.000Z' },
    ],
  };
  const files = {
    'usage.json': JSON.stringify(usage),
    'nobody.json': JSON.stringify({ operations: [], deprecated: [] }),
    'same.graphql': served,
    'old.graphql': old,
    'one.json': JSON.stringify(manifest),
    'two.graphql': '{ project(id: 1) { name } }',
    'change.graphql': change,
    'broken.graphql': '{ project(',
    'page/old.graphql': served.replace('\ntype Project implements Node {\n', '$&  title: String\n\n'),
    'page/title.graphql': 'query Title { project(id: 1) { title } }',
  };
  await mkdir(join(folder, 'page'));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The output of `schema diff`, with the folder left out, and the exit code of its process. */
function diff(...args: string[]): readonly [text: string, code: number] {
  const { text, exitCode } = schemaDiff(args.map(pathOf), createReader({}));
  return [text.replaceAll(`${folder}/`, ''), exitCode];
}

function pathOf(arg: string): string {
  return /\.\w+$/.test(arg) ? join(folder, arg) : arg;
}

describe('schema diff', () => {
  test('finds no change in the committed schema', () => {
    expect(diff('same.graphql')).toEqual(['0 changes: 0 breaking', 0]);
  });

  test('fails for any breaking change if no documents are given', () => {
    expect(diff('old.graphql')).toEqual([
      `breaking:
  Field Dashboard.grid was removed.
  Field Dashboard.tiles changed type from JSON to [JSON].
  Enum value RestrictionLevel.NO_EDIT was removed.

3 changes: 3 breaking`,
      1,
    ]);
  });

  test('fails for what a document uses, in a fragment or by a variable, and lists the rest', () => {
    expect(diff('old.graphql', '--documents', 'one.json', 'two.graphql', 'change.graphql')).toEqual([
      `breaking, and used:
  Field Dashboard.tiles changed type from JSON to [JSON].
    used by one.json: One
  Enum value RestrictionLevel.NO_EDIT was removed.
    used by change.graphql: Change

breaking, but used by none of the documents:
  Field Dashboard.grid was removed.

3 changes: 3 breaking, 2 of them used by 4 documents`,
      1,
    ]);
  });

  test('prints what the page says of a field that a document uses', () => {
    const page = blocksOf('docs/schema.md');
    const at = page.findIndex(({ mark }) => mark === 'run by test/contract/schema-diff-command.test.ts');
    const [, command = ''] = /^npm run -s schema -- diff (.*)$/m.exec(page[at]?.text ?? '') ?? [];
    const [old = '', ...others] = command.split(' ').map((arg) => arg.replace(/^(?=\w+\.graphql$)/, 'page/'));
    expect(diff(old, ...others)).toEqual([
      page[at + 1]?.text.trimEnd().replace('title.graphql', 'page/title.graphql'),
      1,
    ]);
  });

  test('passes if no document uses what breaks', () => {
    const [text, code] = diff('old.graphql', '--documents', 'two.graphql');
    expect(text).toMatch(/^breaking, but used by none of the documents:\n/);
    expect(text).toMatch(/\n3 changes: 3 breaking, 0 of them used by 1 document$/);
    expect(code).toBe(0);
  });

  test('prints JSON for programs', () => {
    const [text, code] = diff('old.graphql', '--json', '--documents', 'one.json');
    expect(JSON.parse(text)).toMatchObject({
      changes: [
        { severity: 'breaking', type: 'FIELD_REMOVED', usedBy: [] },
        { severity: 'breaking', type: 'FIELD_CHANGED_KIND', usedBy: ['one.json: One'] },
        { severity: 'breaking', type: 'VALUE_REMOVED_FROM_ENUM', usedBy: [] },
      ],
      invalid: [],
      documents: 2,
    });
    expect(code).toBe(1);
  });

  test('says which clients are hit, by ids and names of documents and by uses of what is deprecated', () => {
    expect(diff('old.graphql', '--usage', 'usage.json', '--documents', 'one.json', 'change.graphql')).toEqual([
      `breaking, and used:
  Field Dashboard.tiles changed type from JSON to [JSON].
    used by one.json: One
    sent by web 1: 7 operations, the last at 2026-11-23T10:00:00.000Z
  Enum value RestrictionLevel.NO_EDIT was removed.
    used by change.graphql: Change
    sent by clients without a name: 2 operations, the last at 2026-11-22T10:00:00.000Z

breaking, but used by none of the documents:
  Field Dashboard.grid was removed.
    sent by ios: 1 operation, the last at 2026-11-21T10:00:00.000Z

3 changes: 3 breaking, 2 of them used by 3 documents`,
      1,
    ]);
    expect(diff('old.graphql', '--usage', 'nobody.json')[0]).toContain('sent by no client in the usage');
    expect(() => diff('old.graphql', '--usage', 'one.json')).toThrow(
      new ConfigError(`${folder}/one.json: expected an answer of GET /admin/usage, as JSON`),
    );
  });

  test('says what is wrong', () => {
    const usage = 'schema diff: expected one file with the old schema as SDL, and other files only after --documents';
    expect(() => diff()).toThrow(new ConfigError(usage));
    expect(() => diff('old.graphql', 'two.graphql')).toThrow(new ConfigError(usage));
    expect(() => diff('--documents', 'two.graphql', 'old.graphql')).toThrow(new ConfigError(usage));
    expect(() => diff('none.graphql')).toThrow(
      new ConfigError(`${folder}/none.graphql: there is no file at that path`),
    );
    expect(() => diff('one.json')).toThrow(
      /one\.json: expected a schema as SDL, but it cannot be used: Syntax Error: Expected Name, found String "one"/,
    );
    expect(() => diff('old.graphql', '--documents', 'broken.graphql')).toThrow(
      new ConfigError(`${folder}/broken.graphql: 1:11 Syntax Error: Expected Name, found <EOF>.`),
    );
  });
});
