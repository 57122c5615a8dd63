import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { paramsOfBody } from '../../src/http/request.ts';
import type { Prepare } from '../../src/operation/document.ts';
import type { GraphQLParams } from '../../src/operation/params.ts';
import { createPersisted } from '../../src/operation/persisted/persisted.ts';
import { createFolder } from '../support/persisted.ts';

const schema = buildSchema('type Query { a: Int }');
const request = (params: unknown): GraphQLParams => paramsOfBody(JSON.stringify(params), 100);

/** Persisted documents, over which preparing a free text is an error. */
function createListed(files: string): ReturnType<typeof createPersisted> {
  const prepare: Prepare = (query) => {
    throw new Error(`expected nothing to be prepared but got ${query}`);
  };
  return createPersisted({
    files,
    schemas: { schema, compilerSchema: schema },
    introspection: true,
    prepare,
    log: () => undefined,
  });
}

describe('A listed id', () => {
  test('is answered at once with what was prepared at start: the same operation every time, and no promise', async () => {
    using folder = createFolder();
    const persisted = await createListed(folder.write('m.json', { one: '{ a }' }));
    const first = persisted.resolve(request({ id: 'one' }));
    expect(first).not.toBeInstanceOf(Promise);
    expect(first).toMatchObject({ byId: true, prepared: { listed: true }, counts: { id: 'one' } });
    expect(persisted.resolve(request({ id: 'one' }))).toEqual(first);
    persisted.list?.close();
  });

  test('keeps its prepared operation over a reload if its text stays the same', async () => {
    using folder = createFolder();
    const persisted = await createListed(folder.write('m.json', { one: '{ a }', two: '{ b: a }' }));
    const preparedOf = async (id: string): Promise<unknown> => (await persisted.resolve(request({ id }))).prepared;
    const [one, two] = [await preparedOf('one'), await preparedOf('two')];
    folder.write('m.json', { one: '{ a }', two: '{ c: a }' });
    await persisted.list?.reload();
    expect(await preparedOf('one')).toBe(one);
    expect(await preparedOf('two')).not.toBe(two);
    persisted.list?.close();
  });
});
