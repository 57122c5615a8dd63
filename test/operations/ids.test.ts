import { type GraphQLInputType, type GraphQLObjectType, getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createSchema } from '../../src/schema.ts';
import { startBoth } from '../support/both.ts';
import { globalId, organizationId, otherOrganization } from '../support/current.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

/** Another base64url text of the same bytes: the last character holds bits that no byte needs. */
function respelled(text: string): string {
  const canonical = globalId(text);
  const other = canonical.slice(0, -1) + String.fromCodePoint((canonical.codePointAt(canonical.length - 1) ?? 0) + 1);
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(text))) throw new Error(`${text} has one spelling only`);
  return other;
}

/** The ids that an argument takes beside global ids. */
type Form = 'global only' | 'Project' | 'Organization' | 'Dashboard' | 'any Dashboard' | 'Tile' | 'Plugin' | 'Event';

/** Where the id `$id` goes in: by `Type.field(argument)` or `Input.field`, the field of the operation. */
const places: Readonly<Record<string, readonly [form: Form, selection: string]>> = {
  'Query.node(id)': ['global only', 'node(id: $id) { id }'],
  'Query.nodes(ids)': ['global only', 'nodes(ids: [$id]) { id }'],
  'Query.project(id)': ['Project', 'project(id: $id) { name dashboards { totalCount } }'],
  'Query.organization(id)': ['Organization', 'organization(id: $id) { name plugins { totalCount } }'],
  'Project.dashboard(id)': ['Dashboard', 'project(id: 1) { dashboard(id: $id) { name tiles } }'],
  'Project.eventCsv(id)': ['Event', 'project(id: 1) { eventCsv(id: $id) }'],
  'Project.event(id)': ['Event', 'project(id: 1) { event(id: $id) { event } }'],
  'Organization.plugin(id)': [
    'Plugin',
    `organization(id: "${organizationId}") { plugin(id: $id) { name source { body } } }`,
  ],
  // A project that does not exist yet has no dashboards: whose it is, the upstream has to say.
  'CreateProjectInput.primaryDashboardId': [
    'any Dashboard',
    'createProject(input: { primaryDashboardId: $id }) { project { id } }',
  ],
  'UpdateProjectInput.id': ['Project', 'updateProject(input: { id: $id }) { project { id } }'],
  'UpdateProjectInput.primaryDashboardId': [
    'Dashboard',
    'updateProject(input: { id: 1, primaryDashboardId: $id }) { project { id } }',
  ],
  'DeleteProjectInput.id': ['Project', 'deleteProject(input: { id: $id }) { deletedId }'],
  'CreateDashboardInput.projectId': ['Project', 'createDashboard(input: { projectId: $id }) { dashboard { id } }'],
  'CreateDashboardInput.useDashboardId': [
    'Dashboard',
    'createDashboard(input: { projectId: 1, useDashboardId: $id }) { dashboard { id } }',
  ],
  'CreateDashboardFromTemplateInput.projectId': [
    'Project',
    'createDashboardFromTemplate(input: { projectId: $id, template: {} }) { dashboard { id } }',
  ],
  ...dashboardPlaces('UpdateDashboardInput', 'updateDashboard'),
  ...dashboardPlaces('MoveDashboardTileInput', 'moveDashboardTile', ', tileId: 3, toDashboardId: 4'),
  'MoveDashboardTileInput.tileId': [
    'Tile',
    'moveDashboardTile(input: { id: 2, projectId: 1, tileId: $id, toDashboardId: 4 }) { dashboard { id } }',
  ],
  'MoveDashboardTileInput.toDashboardId': [
    'Dashboard',
    'moveDashboardTile(input: { id: 2, projectId: 1, tileId: 3, toDashboardId: $id }) { dashboard { id } }',
  ],
  ...dashboardPlaces('DeleteDashboardInput', 'deleteDashboard'),
  ...dashboardPlaces('RestoreDashboardInput', 'restoreDashboard'),
  'CreatePluginInput.organizationId': [
    'Organization',
    'createPlugin(input: { organizationId: $id }) { plugin { id } }',
  ],
  ...pluginPlaces('UpdatePluginInput', 'updatePlugin', 'plugin { id }'),
  ...pluginPlaces('DeletePluginInput', 'deletePlugin', 'deletedId'),
  ...pluginPlaces('UpdatePluginSourceInput', 'updatePluginSource', 'body', ', deletedFiles: ["a.ts"]'),
  ...pluginPlaces('UpgradePluginInput', 'upgradePlugin', 'body'),
  ...pluginPlaces('CheckPluginForUpdatesInput', 'checkPluginForUpdates', 'body'),
};

function dashboardPlaces(input: string, field: string, others = ''): Record<string, readonly [Form, string]> {
  return {
    [`${input}.id`]: ['Dashboard', `${field}(input: { id: $id, projectId: 1${others} }) { dashboard { id } }`],
    [`${input}.projectId`]: ['Project', `${field}(input: { id: 2, projectId: $id${others} }) { dashboard { id } }`],
  };
}

function pluginPlaces(
  input: string,
  field: string,
  payload: string,
  others = '',
): Record<string, readonly [Form, string]> {
  const owned = `organizationId: "${organizationId}"`;
  return {
    [`${input}.id`]: ['Plugin', `${field}(input: { id: $id, ${owned}${others} }) { ${payload} }`],
    [`${input}.organizationId`]: [
      'Organization',
      `${field}(input: { id: 2, organizationId: $id${others} }) { ${payload} }`,
    ],
  };
}

/** Texts that are no id, and would change the path, query or headers of a request if they were put into it as they are. */
const unsafe: readonly string[] = [
  ...['', '.', '..', '...%2f', '/', '//', '1/', '/1', '1/../2', '1/..', '../1', '..\\1', '1\\..\\2', '1/./2'],
  ...['%2e', '%2e%2e', '%2E%2E%2F2', '1%2f..%2f2', '1%2F2', '%252e%252e', '1%00', '1%0d%0aX-Evil:%201'],
  ...['1\t', '1\n', '\r\n1', '1\r\nX-Evil: 1', '1\u0000', '\u0000', '\ud800'],
  ...['@current/', '@current/../1', 'http://127.0.0.1/', '//127.0.0.1', 'x'.repeat(501), '__proto__/'],
];

/** Texts that only an event may have as its id: percent-encoded, each stays one path segment. */
const eventWords: readonly string[] = [
  ...['1?x=', '1?limit=1', '1#x', '1&x=1', '1;x', '1,2', '1 ', ' 1'],
  ...['1\u2028', '１', '١', '1\u0301', '\u200b1', '\ufeff1', '🙂', 'é'],
  ...['@CURRENT', '@', '@me', '{id}', '$id', '*', "1' or '1'='1", '"1"', '[1]'],
];

/** Texts that are no integer; as the id of an event, which may be any word, they are harmless. */
const noInteger: readonly string[] = [
  ...['+1', '-0', '--1', '01', '00', '1e3', '0x1', '1.0', '1_000', '1n', 'NaN', 'Infinity', '1'.repeat(25)],
  ...['null', 'undefined', 'true', 'values', organizationId, '__proto__', 'constructor'],
];

/** Not the one spelling of a global id, or not the id of anything that exists. */
const brokenGlobalIds: readonly string[] = [
  `${globalId('Project:1')}=`,
  `${globalId('Dashboard:1:2')}==`,
  `${globalId('Project:12')}\n`,
  respelled('Project:12'),
  respelled('Dashboard:1:2'),
  respelled(`Plugin:${organizationId}:22`),
  respelled(`Organization:${organizationId}`),
  Buffer.from('Dashboard:1:2>?').toString('base64'),
  globalId('Project:01'),
  globalId('Project:1/../2'),
  globalId('Project:1 '),
  globalId('Project:\u0000'),
  globalId('Project:'),
  globalId('Project'),
  globalId('project:1'),
  globalId('Dashboard:2'),
  globalId('Dashboard::2'),
  globalId('Dashboard:1:'),
  globalId('Dashboard:1:2:3'),
  globalId('Dashboard:1/../2:3'),
  globalId('Event:1:values'),
  globalId('Event:1:..'),
  globalId('Event:1:a/b'),
  globalId('Event:1:a\\b'),
  globalId('Event:1:%2f'),
  globalId('Event:1:a%2e'),
  globalId('Event:1:a\nb'),
  globalId(`Event:1:${'e'.repeat(501)}`),
  globalId('Plugin:1:2'),
  globalId(`Plugin:${organizationId}:x`),
  globalId('Organization:1'),
  // `@current` differs between keys, so no global id names it.
  globalId('Project:@current'),
  globalId('Organization:@current'),
  globalId('Dashboard:@current:2'),
  globalId('Event:@current:2'),
  globalId('Plugin:@current:2'),
  globalId('User:1'),
  globalId('Query:1'),
  globalId('Mutation:1:2'),
  globalId('__proto__:1'),
  globalId('constructor:1'),
];

/** Global ids of what the argument does not take: other types, and objects of other owners than the one given. */
const others: Readonly<Record<Form, readonly string[]>> = {
  'global only': [],
  Project: ['Dashboard:1:2', 'Event:1:e', `Plugin:${organizationId}:2`, `Organization:${organizationId}`],
  Organization: ['Project:1', 'Dashboard:1:2', 'Event:1:e', `Plugin:${organizationId}:2`],
  Dashboard: ['Project:2', 'Dashboard:7:2', 'Event:1:2', `Plugin:${organizationId}:2`],
  'any Dashboard': ['Project:2', 'Event:1:2', `Plugin:${organizationId}:2`],
  Tile: ['Project:2', 'Dashboard:1:2', 'Event:1:2', `Plugin:${organizationId}:2`],
  Event: ['Project:2', 'Event:7:2', 'Dashboard:1:2', `Organization:${organizationId}`],
  Plugin: ['Project:2', `Plugin:${otherOrganization}:2`, 'Dashboard:1:2', `Organization:${organizationId}`],
};

function refusedBy(form: Form): string[] {
  // A project and an organization may be the current one; nothing else may.
  const current = form === 'Project' || form === 'Organization' ? [] : ['@current'];
  const words = form === 'Event' ? ['values'] : noInteger;
  // Any other word may be the id of an event.
  const broken = form === 'Event' ? brokenGlobalIds.filter((text) => /[/\\\n]/.test(text)) : brokenGlobalIds;
  const numbers = form === 'global only' || form === 'Organization' ? ['1', '0'] : [];
  const uuid = form === 'Organization' ? noInteger.filter((text) => text !== organizationId) : words;
  return [
    ...unsafe,
    ...(form === 'Event' ? [] : eventWords),
    ...uuid,
    ...broken,
    ...numbers,
    ...current,
    ...others[form].map(globalId),
  ];
}

/** Asks once for each id, twenty in one operation. */
async function askAll(gateway: TestGateway, selection: string, ids: readonly string[]) {
  const kind = /^\w+\(input/.test(selection) ? 'mutation' : 'query';
  const errors: { readonly code: unknown; readonly message: string }[] = [];
  for (let start = 0; start < ids.length; start += 20) {
    const some = ids.slice(start, start + 20);
    const declared = some.map((_id, index) => `$id${index}: ID!`).join(', ');
    const fields = some.map((_id, index) => `f${index}: ${selection.replace('$id', `$id${index}`)}`).join('\n');
    const variables = Object.fromEntries(some.map((id, index) => [`id${index}`, id]));
    const answer = await gateway.ask(`${kind} (${declared}) { ${fields} }`, { variables });
    for (const { message, extensions } of answer.errors ?? []) errors.push({ code: extensions['code'], message });
  }
  return errors;
}

describe('an id that is not one', () => {
  test.each(Object.entries(places))(
    'is refused by %s with a short message and without a call',
    async (_place, where) => {
      const [form, selection] = where;
      const { upstream, gateway } = await startBoth({});
      const ids = refusedBy(form);
      expect(ids.length).toBeGreaterThan(35);
      const errors = await askAll(gateway, selection, ids);
      expect(upstream.requests).toEqual([]);
      expect(errors.map(({ code }) => code)).toEqual(ids.map(() => 'BAD_USER_INPUT'));
      expect(errors.filter(({ message }) => message.length > 250)).toEqual([]);
      expect(gateway.reported).toEqual([]);
    },
  );

  test('is refused everywhere with a short message if it is a megabyte long', async () => {
    await using upstream = await startUpstream({});
    // Larger than the default, which refuses so long a body before it is read.
    await using gateway = await startGateway(upstream, { bodyLimits: { bytes: 4 * 2 ** 20, jsonDepth: 100 } });
    for (const [form, selection] of Object.values(places)) {
      for (const text of [`1${'/..'.repeat(350_000)}`, (form === 'Event' ? '/' : '1').repeat(2 ** 20)]) {
        const [error] = await askAll(gateway, selection, [text]);
        // The arguments of mutations have no limit but that of the body.
        expect(['BAD_USER_INPUT', 'LIMIT_EXCEEDED']).toContain(error?.code);
        expect(error?.message.length).toBeLessThan(300);
      }
    }
    expect(upstream.requests).toEqual([]);
  });

  test('is refused if it is no text', async () => {
    const { upstream, gateway } = await startBoth({});
    for (const id of [1.5, true, null, {}, { id: 1 }, [], ['1'], -1.5, 1e21]) {
      const answer = await gateway.ask('query ($id: ID!) { project(id: $id) { name } }', { variables: { id } });
      expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    for (const literal of ['1.5', 'true', 'null', '{}', '[]', '["1"]', 'ENUM']) {
      const answer = await gateway.ask(`{ project(id: ${literal}) { name } }`);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('is refused beside a global id that says otherwise', async () => {
    const { upstream, gateway } = await startBoth({});
    const inputs = [
      `updateDashboard(input: { id: "${globalId('Dashboard:1:2')}", projectId: 3 }) { dashboard { id } }`,
      `updateDashboard(input: { id: "${globalId('Dashboard:1:2')}", projectId: "../1" }) { dashboard { id } }`,
      `deleteDashboard(input: { id: 2 }) { deletedId }`,
      `deletePlugin(input: { id: 2 }) { deletedId }`,
      `deletePlugin(input: { id: "${globalId('Dashboard:1:2')}" }) { deletedId }`,
      `deletePlugin(input: { id: "${globalId(`Plugin:${organizationId}:2`)}", organizationId: "${otherOrganization}" }) { deletedId }`,
    ];
    for (const input of inputs) {
      const { errors } = await gateway.ask(`mutation { ${input} }`);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('the table of places', () => {
  test('has every argument and every input field that takes an id', () => {
    const isId = (type: GraphQLInputType): boolean => getNamedType(type).name === 'ID';
    const ofObject = (type: GraphQLObjectType): string[] =>
      Object.values(type.getFields()).flatMap((field) =>
        field.args.filter(({ type: each }) => isId(each)).map(({ name }) => `${type.name}.${field.name}(${name})`),
      );
    // Subscriptions, which have one field each, have tests of their own (live-transports.test.ts).
    const types = Object.values(createSchema(false).getTypeMap()).filter(({ name }) => !name.startsWith('__'));
    const inArguments = types.filter(isObjectType).flatMap(ofObject);
    const inInputs = types.filter(isInputObjectType).flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ type: each }) => isId(each))
        .map(({ name }) => `${type.name}.${name}`),
    );
    expect(Object.keys(places).toSorted()).toEqual([...inArguments, ...inInputs].toSorted());
  });
});
