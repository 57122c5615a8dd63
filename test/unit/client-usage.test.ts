import { buildSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { deprecatedUsesOf } from '../../src/operation/document.ts';
import { addUp, ClientUsage } from '../../src/telemetry/client-usage.ts';
import { reportOf } from '../support/reports.ts';

const report = reportOf({ operationName: 'Open', calls: 2, client: 'web', clientVersion: '1' });

describe('What several processes have counted', () => {
  test('is added up, and holds no more rows than one process', () => {
    const counts = Array.from({ length: 3 }, () => new ClientUsage(() => 1000));
    for (const [index, usage] of counts.entries()) {
      usage.add({ ...report, deprecated: ['Query.old'] });
      for (let name = 0; name < 80; name += 1)
        usage.add({ ...report, client: `${index} ${name}`, clientVersion: undefined });
    }
    const { operations, deprecated, otherRestCalls } = addUp(counts.map((usage) => usage.all()));
    // Each has sent a thousand, and 162 of them for operations.
    expect(otherRestCalls).toBe(3 * (1000 - 162));
    expect(operations[0]).toMatchObject({ client: 'web', version: '1', operations: 3, restCalls: 6 });
    expect(deprecated).toMatchObject([{ client: 'web', coordinate: 'Query.old', uses: 3 }]);
    expect(new Set(operations.map(({ client }) => client)).size).toBe(101);
    expect(operations.reduce((sum, row) => sum + row.operations, 0)).toBe(243);
  });

  test('is bounded by names of operations, too', () => {
    const usage = new ClientUsage(() => 7);
    for (let name = 0; name < 5000; name += 1) usage.add({ ...report, operationName: `Open${name}` });
    const { operations } = usage.all();
    expect(operations.length).toBeLessThanOrEqual(2001);
    expect(operations.at(-1)).toMatchObject({ operation: 'other', operations: 3000 });
  });
});

describe('Deprecated uses of an operation', () => {
  const schema = buildSchema(`
    interface Named { name: String @deprecated(reason: "use title") }
    type Project implements Named { name: String, title: String, rows(first: Int, limit: Int @deprecated): [Int] }
    type Query { project: Project, named: Named, old: Int @deprecated }
  `);
  const usesOf = (text: string, operation = 0): readonly string[] | undefined => {
    const document = parse(text);
    const found = document.definitions.filter((one) => one.kind === 'OperationDefinition')[operation];
    return found && deprecatedUsesOf(schema, document, found);
  };

  test('are its fields and arguments, through fragments, each once', () => {
    expect(
      usesOf('{ old again: old project { ...rows } } fragment rows on Project { rows(first: 1, limit: 2) }'),
    ).toEqual(['Query.old', 'Project.rows(limit:)']);
    expect(usesOf('{ named { name } project { name title } }')).toEqual(['Named.name']);
  });

  test('are those of this operation, and none of another in the document', () => {
    const text = 'query A { old } query B { project { title } }';
    expect(usesOf(text, 0)).toEqual(['Query.old']);
    expect(usesOf(text, 1)).toBeUndefined();
  });

  test('are not looked for in a schema without deprecations', () => {
    const plain = buildSchema('type Query { old: Int }');
    const document = parse('{ old }');
    const [operation] = document.definitions;
    if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation');
    expect(deprecatedUsesOf(plain, document, operation)).toBeUndefined();
  });
});
