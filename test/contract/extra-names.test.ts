import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';
import { columnsOf, fieldNameOf } from './document.ts';
import { organizationId } from './operation-table.ts';
import { askThriceExactly } from './thrice.ts';

/** What each mutation needs beside `extra`. */
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

const dashboardColumns =
  'name description pinned deleted use_template use_dashboard delete_insights filters tags restriction_level';
const pluginColumns = 'plugin_type name description icon config_schema tag is_global capabilities metrics public_jobs';

/** Request columns that take any JSON. */
const json = new Set(['filters', 'config_schema', 'capabilities', 'metrics', 'public_jobs']);

const mutations = createSchema().getMutationType()?.getFields() ?? {};
const withExtra = Object.keys(mutations).filter((name) => inputOf(name).getFields()['extra'] !== undefined);

test('every mutation that takes `extra` is tried', () => {
  expect(withExtra.toSorted()).toEqual(Object.keys(addresses).toSorted());
});

describe.each(withExtra)('`extra` of %s', (mutation) => {
  const noun = /Project|Dashboard|Plugin/.exec(mutation)?.[0] ?? '';
  const fields = Object.keys(inputOf(mutation).getFields()).filter((name) => name !== 'extra');
  const columns = columnsOf(noun).map(({ name }) => name);
  const free = freeColumnsOf(mutation);

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

  test('refuses every column that no request sets, in both spellings, and every request column but under its REST name', async () => {
    const names = columns.flatMap((column) => {
      const spellings = [column, fieldNameOf(column), camelCase(column)];
      return free.includes(column) ? spellings.filter((name) => name !== column) : spellings;
    });
    const messages = await refusalsOf(mutation, names);
    for (const message of messages) {
      expect(message).toMatch(
        /in the input field `\w+`, but got it in `extra`\.$|^Expected `extra` to hold what `\w+` sets, but got "\w+": (?:the upstream alone sets it|it is set by `\w+`(?:, `\w+`)*)\.$|^Expected REST names in `extra` \(`\w+`\), but got "\w+"\.$/,
      );
    }
    expect(messages).toHaveLength(names.length);
  });

  test('sends every request column that the contract documents for it and no input field sets', async () => {
    const extra = Object.fromEntries(free.map((column) => [column, sampleOf(column)]));
    for (const sent of [extra, ...free.map((column) => ({ [column]: null }))]) {
      expect(await bodyOf(mutation, sent)).toMatchObject(sent);
    }
  });

  test('refuses a value of a request column that is not what REST takes', async () => {
    const wrong = free.filter((column) => !json.has(column));
    const messages = await refusalsOf(mutation, wrong, { wrong: true });
    expect(messages).toEqual(
      wrong.map((column) => `Expected "${column}" in \`extra\` to be as REST has it, but got {"wrong":true}.`),
    );
  });
});

test('the request columns without an input field are these', () => {
  expect(Object.fromEntries(withExtra.map((mutation) => [mutation, freeColumnsOf(mutation).join(' ')]))).toEqual({
    createProject: '',
    updateProject: '',
    createDashboard: 'deleted delete_insights',
    updateDashboard: 'use_template use_dashboard',
    moveDashboardTile: dashboardColumns,
    createDashboardFromTemplate: dashboardColumns,
    createPlugin: '',
    updatePlugin: '',
    updatePluginSource: pluginColumns,
    upgradePlugin: pluginColumns,
  });
});

test('a change of source code takes no files in `extra`, and no name twice', async () => {
  expect(await refusalsOf('updatePluginSource', ['index.ts', '__proto__'])).toEqual([
    'Expected "index.ts" in the input field `files`, but got it in `extra`.',
    'Expected "__proto__" in the input field `files`, but got it in `extra`.',
  ]);
  await using upstream = await startUpstream({});
  await using gateway = await startGateway(upstream);
  const input = { ...addresses['updatePluginSource'], deletedFiles: ['name'], extra: { name: 'x' } };
  const { errors } = await gateway.ask(queryOf('updatePluginSource'), { variables: { input } });
  expect(errors?.map(({ message }) => message)).toEqual([
    'Expected each name once in `files`, `deletedFiles` and `extra`, but got "name" twice.',
  ]);
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
])('%s says of %s in `extra`: %s', async (mutation, name, reason) => {
  expect(await refusalsOf(mutation, [name])).toEqual([
    `Expected \`extra\` to hold what \`${mutation}\` sets, but got "${name}": ${reason}.`,
  ]);
});

test('members of `extra` that are unknown to the contract go upstream, whatever their own members are called', async () => {
  await using upstream = await startUpstream({ 'PATCH /api/projects/1/dashboards/5/': { id: 5 } });
  await using gateway = await startGateway(upstream);
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

/** The messages with which a mutation refuses an `extra` with each of these names alone. Expects no call. */
async function refusalsOf(mutation: string, names: readonly string[], value: unknown = 99): Promise<string[]> {
  await using upstream = await startUpstream({});
  await using gateway = await startGateway(upstream);
  const messages: string[] = [];
  for (const name of names) {
    const { errors = [] } = await gateway.ask(queryOf(mutation), {
      variables: variablesOf(mutation, { [name]: value }),
    });
    expect(errors.map(({ path, extensions }) => ({ path, extensions }))).toEqual([
      { path: [mutation], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    messages.push(...errors.map(({ message }) => message));
  }
  expect(upstream.requests).toEqual([]);
  return messages;
}

/** The body that goes upstream for a mutation with this `extra`. */
async function bodyOf(mutation: string, extra: object): Promise<unknown> {
  await using upstream = await startUpstream(() => ({ id: 5 }));
  await using gateway = await startGateway(upstream);
  const { errors } = await gateway.ask(queryOf(mutation), { variables: variablesOf(mutation, extra) });
  expect(errors).toBeUndefined();
  return JSON.parse(upstream.records[0]?.body ?? '');
}

/** The request columns that the contract has for a mutation, and that none of its input fields sets. */
function freeColumnsOf(mutation: string): string[] {
  const noun = /Project|Dashboard|Plugin/.exec(mutation)?.[0] ?? '';
  const fields = Object.keys(inputOf(mutation).getFields());
  return columnsOf(`${noun}Request`)
    .map(({ name }) => name)
    .filter((column) => !fields.includes(fieldNameOf(column)));
}

/** A value that REST takes for a request column. */
function sampleOf(column: string): unknown {
  const samples = { restriction_level: 37, use_dashboard: 7, plugin_type: 'source', tags: ['a', null] };
  if (Object.hasOwn(samples, column)) return Reflect.get(samples, column);
  return /^(?:pinned|deleted|delete_insights|is_global)$/.test(column) || (json.has(column) ? { a: [1] } : 'text');
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
