import { BreakingChangeType, buildSchema, DangerousChangeType, SafeChangeType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { findingsOf, isBroken } from '../../src/commands/schema-changes.ts';
import { base, documents, table } from './schema-change-table.ts';

const before = buildSchema(base);
const clients = Object.entries(documents).map(([name, text]) => ({ file: 'app', name, id: name, text }));

/** Kinds that the public schema has nothing of, or that end a fragment: documents are reported as no longer valid. */
const foundByValidation: ReadonlySet<string> = new Set([
  'TYPE_REMOVED_FROM_UNION',
  'IMPLEMENTED_INTERFACE_REMOVED',
  'DIRECTIVE_REPEATABLE_REMOVED',
  'DIRECTIVE_LOCATION_REMOVED',
]);

describe('a change of the schema', () => {
  test.each(table)('%s by %j breaks, and fails for, exactly: %s', (type, edits, broken) => {
    const after = buildSchema(changed(edits));
    const users = broken.split(' ').filter(Boolean).toSorted();
    const { changes, invalid } = findingsOf(before, after, clients);
    expect(changes.map((change) => change.type)).toContain(type);
    const found = new Set([...changes.flatMap(({ usedBy }) => usedBy), ...invalid.map(({ document }) => document)]);
    expect(namesIn([...found])).toEqual(users);
    expect(foundByValidation.has(type) ? [] : invalid).toEqual([]);
    const failing = clients.filter((client) => isBroken(findingsOf(before, after, [client])));
    expect(failing.map(({ name }) => name).toSorted()).toEqual(users);
  });

  test.each(table)('%s by %j fails without documents if it breaks, and never for none of them', (_type, edits) => {
    const after = buildSchema(changed(edits));
    const findings = findingsOf(before, after, undefined);
    expect(isBroken(findings)).toBe(findings.changes.some(({ severity }) => severity === 'breaking'));
    expect(isBroken(findingsOf(before, after, []))).toBe(false);
  });

  test('is in the table with each type that graphql finds, and if it breaks, used and unused', () => {
    const types = Object.keys({ ...BreakingChangeType, ...DangerousChangeType, ...SafeChangeType });
    expect([...new Set(table.map(([type]) => type))].toSorted()).toEqual(types.toSorted());
    const rows = table.map(([type, , broken]) => `${type} ${broken === '' ? 'unused' : 'used'}`);
    expect(rows).toEqual(expect.arrayContaining(Object.keys(BreakingChangeType).map((type) => `${type} used`)));
    expect(rows).toEqual(expect.arrayContaining(Object.keys(BreakingChangeType).map((type) => `${type} unused`)));
  });
});

test('a document that no longer fits is reported even if no change that graphql finds says so', () => {
  const text = 'query Page($page: Int) { one(id: 1, page: $page) { id } }';
  const after = buildSchema(changed('page: Int! = 10 => page: Int!'));
  const findings = findingsOf(before, after, [{ file: 'app', name: 'page', id: 'page', text }]);
  expect(findings.invalid).toEqual([
    {
      document: 'app: Page',
      errors: ['1:12 Variable "$page" of type "Int" used in position expecting type "Int!".'],
    },
  ]);
  expect(isBroken(findings)).toBe(true);
});

test('a document that did not fit before is no evidence against a change, but for what it uses', () => {
  const text = '{ one(id: 1) { ...InAnotherFile name } }';
  const client = { file: 'app', name: 'document', id: 'd', text };
  const verdict = (edits: string): boolean => isBroken(findingsOf(before, buildSchema(changed(edits)), [client]));
  expect(verdict('left: String! => left: Int')).toBe(false);
  expect(verdict('name: String! => name: Int')).toBe(true);
});

test('a document with a directive that the schema did not have uses nothing by it', () => {
  const text = '{ one(id: 1, page: 1) @unknown(size: 1) { id } }';
  const client = { file: 'app', name: 'document', id: 'd', text };
  const verdict = (edits: string): boolean => isBroken(findingsOf(before, buildSchema(changed(edits)), [client]));
  // The client leaves out the field's argument `page`, and gives `size`.
  expect(verdict('page: Int! = 10 => page: Int!')).toBe(false);
  expect(verdict('one(id: ID!, size: Int, => one(id: ID!,')).toBe(false);
  expect(verdict('one(id: ID!, => one(')).toBe(true);
});

test.each(['washer', 'hash', 'changedFields', 'was'])('a change of the type %s is traced to its uses', (type) => {
  const [old, newer] = ['id: ID name: ID', 'id: ID'].map(
    (fields) => `type Query { one: ${type} } type ${type} { ${fields} }`,
  );
  const client = { file: 'app', name: 'document', id: 'd', text: '{ one { name } }' };
  const { changes, invalid } = findingsOf(buildSchema(old ?? ''), buildSchema(newer ?? ''), [client]);
  expect(changes).toMatchObject([{ description: `Field ${type}.name was removed.`, usedBy: ['app: document'] }]);
  expect(invalid).toEqual([]);
});

/** The base with each edit made once. */
function changed(edits: string): string {
  return edits.split(';').reduce((sdl, edit) => {
    const [from = '', to = ''] = edit.split('=>').map((side) => side.trim());
    if (sdl.split(from).length !== 2) throw new Error(`expected once in the schema: ${from}`);
    return sdl.replace(from, to);
  }, base);
}

/** The names of the documents among `users`, without the name of their file. */
function namesIn(users: readonly string[]): readonly string[] {
  return clients
    .filter(({ name, text }) => users.includes(`app: ${/^\w+ (\w+)/.exec(text)?.[1] ?? name}`))
    .map(({ name }) => name)
    .toSorted();
}
