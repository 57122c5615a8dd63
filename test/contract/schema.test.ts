import { readFileSync } from 'node:fs';
import { buildSchema, printSchema, validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createReadableSchema, createSchema } from '../../src/schema.ts';
import { sdlText } from './document.ts';
import { unnamedBreakingChanges, unreleased } from './schema-changes.ts';

const snapshotUrl = new URL('../../schema.graphql', import.meta.url);
const changelogUrl = new URL('../../CHANGELOG.md', import.meta.url);

// A start does not check it.
test('the schema is valid, and so are its definitions with the directives that map them to the REST API', () => {
  expect(validateSchema(buildSchema(sdlText))).toEqual([]);
  for (const schema of [createReadableSchema(true), createSchema(false)])
    expect(validateSchema(buildSchema(printSchema(schema)))).toEqual([]);
});

// One test, so that the snapshot cannot be updated past a breaking change without a word of it.
test('the public schema is the committed one, and what breaks clients is named in the changelog', async () => {
  const printed = `${printSchema(createReadableSchema(true))}\n`;
  const committed = buildSchema(readFileSync(snapshotUrl, 'utf8'));
  const changelog = unreleased(readFileSync(changelogUrl, 'utf8'));
  const breaking = unnamedBreakingChanges(committed, buildSchema(printed), changelog);
  expect(
    breaking,
    'Name each of these coordinates under [Unreleased] of CHANGELOG.md, or take the change back',
  ).toEqual([]);
  await expect(
    printed,
    'The public schema has changed. If that is meant, run `npx vitest run test/contract/schema.test.ts --update`',
  ).toMatchFileSnapshot(snapshotUrl.pathname);
});

describe('a breaking change', () => {
  const base = `
    type Query { one(id: ID!, size: Int): Thing  all: [Thing!] }
    type Thing implements Node { id: ID!  name: String  colour: Colour }
    interface Node { id: ID! }
    enum Colour { RED GREEN }
    input Filter { name: String  colour: Colour }
    type Mutation { change(input: Filter!): Thing }
    union Any = Thing | Query
    scalar Time
    directive @cost(weight: Int) on FIELD | QUERY
  `;

  test.each([
    ['name: String  colour', 'colour', 'Thing.name'],
    ['name: String  colour', 'name: Int  colour', 'Thing.name'],
    ['RED GREEN', 'GREEN', 'Colour.RED'],
    ['size: Int', '', 'Query.one(size:)'],
    ['size: Int', 'size: String', 'Query.one(size:)'],
    ['size: Int', 'size: Int, must: Int!', 'Query.one(must:)'],
    ['input Filter { name: String', 'input Filter {', 'Filter.name'],
    ['input Filter { name: String', 'input Filter { name: Int', 'Filter.name'],
    ['input Filter { name: String', 'input Filter { must: Int!  name: String', 'Filter.must'],
    ['implements Node', '', 'Thing'],
    ['scalar Time', '', 'Time'],
    ['scalar Time', 'enum Time { NOW }', 'Time'],
    ['union Any = Thing | Query', 'union Any = Thing', 'Query'],
    ['(weight: Int)', '', '@cost(weight:)'],
    ['on FIELD | QUERY', 'on FIELD', '@cost'],
    ['directive @cost(weight: Int) on FIELD | QUERY', '', '@cost'],
  ])('of %j into %j is let through by the name %s alone', (before, after, coordinate) => {
    const changed = buildSchema(base.replace(before, after));
    const unnamed = (text: string): string[] => unnamedBreakingChanges(buildSchema(base), changed, text);
    expect(unnamed('nothing')).toEqual([expect.stringMatching(`^${RegExp.escape(coordinate)}: `)]);
    expect(unnamed(`- Gone: \`${coordinate}\`.`)).toEqual([]);
    expect(unnamed(`${coordinate}s x${coordinate} Other.${coordinate}`)).toHaveLength(1);
  });

  test('is none if something is added, described or made optional', () => {
    const changed = base
      .replace('RED', '"Like blood." RED BLUE')
      .replace('size: Int', 'size: Int, more: Int')
      .replace('all:', 'new: Int  all:');
    expect(unnamedBreakingChanges(buildSchema(base), buildSchema(changed), '')).toEqual([]);
  });

  test('is not let through by what an earlier release says', () => {
    const changelog = '# Changelog\n\n## [Unreleased]\n\n- New\n\n## [1.0.0]\n\n- Gone: `Thing.name`\n';
    expect(unreleased(changelog)).toBe('\n- New\n\n');
    expect(unreleased('## [Unreleased]\n\n- `Thing.name`\n')).toContain('Thing.name');
    expect(() => unreleased('# Changelog')).toThrow('no section');
  });
});
