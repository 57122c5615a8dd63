import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { codesOf } from '../support/load.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';
import { columnsOf, fieldNameOf } from './document.ts';
import { organizationId } from './operation-table.ts';
import { askThriceExactly } from './thrice.ts';

/** The input of each mutation beside `extra`. */
const addresses: Readonly<Record<string, object>> = {
  createProject: {},
  updateProject: { id: '1' },
  createDashboard: { projectId: '1' },
  updateDashboard: { id: '5', projectId: '1' },
  moveDashboardTile: { id: '5', projectId: '1', tileId: '1', toDashboardId: '2' },
  createDashboardFromTemplate: { projectId: '1', template: {} },
  createPlugin: { organizationId },
  updatePlugin: { id: '5', organizationId },
  updatePluginSource: { id: '5', organizationId },
  upgradePlugin: { id: '5', organizationId },
};

const mutations = createSchema().getMutationType()?.getFields() ?? {};
const withExtra = Object.keys(mutations).filter((name) => inputOf(name).getFields()['extra'] !== undefined);

test('every mutation that takes `extra` is tried', () => {
  expect(withExtra.toSorted()).toEqual(Object.keys(addresses).toSorted());
});

describe.each(withExtra)('`extra` of %s', (mutation) => {
  const noun = /Project|Dashboard|Plugin/.exec(mutation)?.[0] ?? '';
  const fields = Object.keys(inputOf(mutation).getFields()).filter((name) => name !== 'extra');
  const columns = columnsOf(noun).map(({ name }) => name);
  const documented = columnsOf(`${noun}Request`).map(({ name }) => name);

  test('refuses the name of an input field, as GraphQL and as REST spell it, and names the field', async () => {
    const messages = await refusalsOf(
      mutation,
      fields.flatMap((field) => [field, snakeCase(field)]),
    );
    expect(messages).toEqual(
      fields.flatMap((field) =>
        [field, snakeCase(field)].map(
          (name) => `Expected "${name}" in the input field \`${field}\`, but got it in \`extra\`.`,
        ),
      ),
    );
  });

  test('refuses every column and every request column of the contract, in each spelling', async () => {
    const names = [...columns, ...documented].flatMap((column) => [column, fieldNameOf(column), camelCase(column)]);
    const messages = await refusalsOf(mutation, names);
    for (const message of messages) {
      expect(message).toMatch(
        /in the input field `\w+`, but got it in `extra`\.$|^Expected `extra` to hold what `\w+` sets, but got "\w+": (?:the upstream alone sets it|it is set by `\w+`(?:, `\w+`)*)\.$/,
      );
    }
    expect(messages).toHaveLength(names.length);
  });
});

test('every request column of the contract has an input field in some mutation', async () => {
  for (const noun of ['Project', 'Dashboard', 'Plugin']) {
    const own = Object.keys(mutations)
      .filter((mutation) => mutation.includes(noun))
      .flatMap((mutation) => Object.keys(inputOf(mutation).getFields()));
    const fields = new Set(own);
    const columns = columnsOf(`${noun}Request`).map(({ name }) => fieldNameOf(name));
    expect(columns.filter((column) => !fields.has(column))).toEqual([]);
  }
});

describe('The name of a file', () => {
  const columns = ['Plugin', 'PluginRequest'].flatMap((schema) => columnsOf(schema).map(({ name }) => name));
  const members = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'toJSON', 'rawJSON'];
  const others = ['', '.', '..', 'a', '.ts', 'a.', '../a.ts', '/a.ts', 'a//b.ts', 'a\\b.ts', 'a b.ts', 'a.ts\n', 'a.1'];
  const wrong = [...columns, ...members, ...others, 'url', 'organization', `${'a'.repeat(198)}.ts`];
  const entries = { acme: { key: 'phx_narrow', organizations: [organizationId], mutations: true } } as const;

  test.each(['files', 'deletedFiles'])(
    'is no column, no member of an object and no path elsewhere, in `%s`',
    async (list) => {
      const { upstream, gateway } = await startBoth({});
      await using limited = await startTenants(upstream, entries);
      for (const name of wrong) {
        const input = { ...addresses['updatePluginSource'], [list]: list === 'files' ? [{ name, text: 'x' }] : [name] };
        const [anyone, tenant] = await Promise.all([
          gateway.ask(queryOf('updatePluginSource'), { variables: { input } }),
          limited.askAs('acme', queryOf('updatePluginSource'), { variables: { input } }),
        ]);
        expect([name, ...codesOf(anyone), ...codesOf(tenant)]).toEqual([name, 'BAD_USER_INPUT', 'FORBIDDEN']);
      }
      expect(upstream.requests).toEqual([]);
    },
  );

  test('is a name with an extension, perhaps below folders, for everyone', async () => {
    const names = ['index.ts', 'site.ts', 'frontend.tsx', 'plugin.json', 'src/lib/a-b.c.test.ts', 'constructor.ts'];
    const files = names.map((name) => ({ name, text: 'x' }));
    const { upstream, gateway } = await startBoth(() => ({}));
    await using limited = await startTenants(upstream, entries);
    const variables = { input: { ...addresses['updatePluginSource'], files } };
    expect((await gateway.ask(queryOf('updatePluginSource'), { variables })).errors).toBe(undefined);
    expect((await limited.askAs('acme', queryOf('updatePluginSource'), { variables })).errors).toBe(undefined);
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(upstream.records.map((record) => record.body)).toEqual([body, body]);
  });
});

test('a change of source code takes nothing in `extra`, and no name twice', async () => {
  expect(await refusalsOf('updatePluginSource', ['index.ts', '__proto__', 'name'])).toEqual([
    'Expected "index.ts" in the input field `files`, but got it in `extra`.',
    'Expected "__proto__" in the input field `files`, but got it in `extra`.',
    'Expected `extra` to hold what `updatePluginSource` sets, but got "name": it is set by `createPlugin`, `updatePlugin`.',
  ]);
  const { upstream, gateway } = await startBoth({});
  const input = { ...addresses['updatePluginSource'], deletedFiles: ['a.ts'], files: [{ name: 'a.ts', text: '' }] };
  const { errors } = await gateway.ask(queryOf('updatePluginSource'), { variables: { input } });
  expect(errors?.map(({ message }) => message)).toEqual([
    'Expected each name once in `files` and `deletedFiles`, but got "a.ts" twice.',
  ]);
  expect(upstream.requests).toEqual([]);
});

test('a change of source code takes a thousand files, and is refused before its call with more', async () => {
  const { upstream, gateway } = await startBoth({});
  const refusalOf = async (count: number): Promise<unknown> => {
    const deletedFiles = Array.from({ length: count }, (_, index) => `${index}.ts`);
    const variables = { input: { ...addresses['updatePluginSource'], deletedFiles } };
    return (await gateway.ask(queryOf('updatePluginSource'), { variables })).errors?.[0]?.message;
  };
  expect(await refusalOf(1001)).toBe('Expected at most 1000 files, but got 1001.');
  expect(await refusalOf(60_000)).toBe('Expected at most 1000 files, but got 60000.');
  expect(upstream.requests).toEqual([]);
});

test('names in `extra` that a field sets as a member within a member are refused as a whole', async () => {
  const names = ['tile', 'toDashboard', 'to_dashboard'];
  expect(await refusalsOf('moveDashboardTile', names)).toEqual([
    'Expected "tile" in the input field `tileId`, but got it in `extra`.',
    'Expected "toDashboard" in the input field `toDashboardId`, but got it in `extra`.',
    'Expected "to_dashboard" in the input field `toDashboardId`, but got it in `extra`.',
  ]);
});

test.each([
  ['updateProject', 'api_token', 'the upstream alone sets it'],
  ['updateProject', 'apiToken', 'the upstream alone sets it'],
  ['createDashboard', 'created_by', 'the upstream alone sets it'],
  ['updatePlugin', 'url', 'it is set by `createPlugin`'],
  ['upgradePlugin', 'configSchema', 'it is set by `createPlugin`, `updatePlugin`'],
  ['createDashboard', 'delete_insights', 'it is set by `updateDashboard`, `deleteDashboard`'],
  ['updateDashboard', 'use_dashboard', 'it is set by `createDashboard`'],
])('%s says of %s in `extra`: %s', async (mutation, name, reason) => {
  expect(await refusalsOf(mutation, [name])).toEqual([
    `Expected \`extra\` to hold what \`${mutation}\` sets, but got "${name}": ${reason}.`,
  ]);
});

test('members of `extra` that are unknown to the contract go upstream, whatever their own members are called', async () => {
  const { upstream, gateway } = await startBoth({ 'PATCH /api/projects/1/dashboards/5/': { id: 5 } });
  const extra = { creation_context: { name: 'x', restriction_level: 99 }, quickFilterIds: [{ id: 1 }] };
  const { errors } = await askThriceExactly(
    gateway,
    upstream,
    queryOf('updateDashboard'),
    JSON.stringify(variablesOf('updateDashboard', extra)),
  );
  expect(errors).toBeUndefined();
  expect(upstream.records.map(({ body }) => body)).toEqual([JSON.stringify(extra)]);
});

/** The messages with which a mutation refuses an `extra` with each of these names alone, 20 in one request. Expects no call. */
async function refusalsOf(mutation: string, names: readonly string[]): Promise<string[]> {
  await using upstream = await startUpstream({});
  await using gateway = await startGateway(upstream);
  const messages: string[] = [];
  for (let start = 0; start < names.length; start += 20) {
    const some = names.slice(start, start + 20);
    const fields = some.map((_name, at) => `m${at}: ${mutation}(input: $i${at}) { __typename }`);
    const declared = some.map((_name, at) => `$i${at}: ${inputOf(mutation).name}!`);
    const inputs = some.map((name, at): [string, unknown] => [`i${at}`, variablesOf(mutation, { [name]: 99 }).input]);
    const { errors = [] } = await gateway.ask(`mutation (${declared.join(', ')}) { ${fields.join(' ')} }`, {
      variables: Object.fromEntries(inputs),
    });
    expect(errors.map(({ path, extensions }) => ({ path, extensions }))).toEqual(
      some.map((_name, at) => ({ path: [`m${at}`], extensions: { code: 'BAD_USER_INPUT' } })),
    );
    messages.push(...errors.map(({ message }) => message));
  }
  expect(upstream.requests).toEqual([]);
  return messages;
}

function queryOf(mutation: string): string {
  return `mutation Write($input: ${inputOf(mutation).name}!) { ${mutation}(input: $input) { __typename } }`;
}

function variablesOf(mutation: string, extra: object): { readonly input: object } {
  return { input: { ...addresses[mutation], extra } };
}

function inputOf(mutation: string): GraphQLInputObjectType {
  const [input] = mutations[mutation]?.args ?? [];
  const type = input && getNamedType(input.type);
  if (!isInputObjectType(type)) throw new Error(`${mutation} has no input`);
  return type;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
