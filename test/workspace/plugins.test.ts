import { expect, test } from 'vitest';
import { views } from '../../src/rest/generated/views.ts';
import { demoKeys } from '../../workspace/workspace.ts';
import { membersOf, resultsOf, rowsOf, startClient, targetOf } from './client.ts';

const base = '/api/organizations/@current/plugins/';
const fields = [...views.Plugin.detail].toSorted();

test('plugins are listed with every field, for the organization of the path', async () => {
  await using client = await startClient();
  const { organization } = membersOf(await client.read('/api/projects/1/'));
  const page = membersOf(await client.read(`/api/organizations/${String(organization)}/plugins/`));
  expect(page).toMatchObject({ count: 9, next: null, previous: null });
  for (const plugin of resultsOf(page)) {
    expect(Object.keys(plugin).toSorted()).toEqual(fields);
    expect(plugin).toMatchObject({ organization_id: organization, organization_name: 'Fernweh Travel' });
  }
  expect(await client.read(base)).toMatchObject({ count: 9 });
});

test('a plugin is read by its id', async () => {
  await using client = await startClient();
  expect(await client.read(`${base}1/`)).toMatchObject({
    id: 1,
    name: 'GeoIP',
    plugin_type: 'repository',
    tag: '1.3.0',
  });
});

test('a plugin installed from an address of the repository takes its name and version from there', async () => {
  await using client = await startClient();
  const url = 'https://plugins.example.com/webhook-relay';
  const { status, body } = await client.send('POST', base, { url });
  expect(status).toBe(201);
  expect(Object.keys(membersOf(body)).toSorted()).toEqual(fields);
  expect(body).toMatchObject({ id: 15, plugin_type: 'repository', name: 'Webhook Relay', url, tag: '1.1.0' });
  expect(await client.read(`${base}15/`)).toEqual(body);
});

test('a plugin made by hand has what was asked for, and nothing that only answers may set', async () => {
  await using client = await startClient();
  const { body } = await client.send('POST', base, {
    name: 'Own',
    plugin_type: 'source',
    latest_tag: '9',
    metrics: { a: 1 },
  });
  expect(body).toMatchObject({ name: 'Own', plugin_type: 'source', latest_tag: null, metrics: { a: 1 }, url: null });
});

test('a changed plugin keeps what was not mentioned', async () => {
  await using client = await startClient();
  const before = membersOf(await client.read(`${base}1/`));
  const { status, body } = await client.send('PATCH', `${base}1/`, {
    description: null,
    url: 'https://elsewhere.example',
  });
  expect({ status, body }).toEqual({ status: 200, body: { ...before, description: null } });
  expect(await client.read(`${base}1/`)).toEqual(body);
});

test('a deleted plugin answers 204 without body, and is gone', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('DELETE', `${base}1/`);
  expect({ status, body }).toEqual({ status: 204, body: '' });
  expect((await client.send('GET', `${base}1/`)).status).toBe(404);
  expect(await client.read(base)).toMatchObject({ count: 8 });
});

test('a check for updates notes the newest version and leaves the installed one', async () => {
  await using client = await startClient();
  const checked = membersOf(await client.read(`${base}1/check_for_updates/`));
  expect(checked.plugin).toMatchObject({ id: 1, tag: '1.3.0', latest_tag: '1.4.2' });
  expect(await client.read(`${base}1/`)).toEqual(checked.plugin);
});

test('an upgrade installs the newest version, with or without a body', async () => {
  await using client = await startClient();
  const upgraded = await client.send('POST', `${base}1/upgrade/`);
  expect(upgraded).toMatchObject({ status: 200, body: { id: 1, tag: '1.4.2', latest_tag: '1.4.2' } });
  const again = await client.send('POST', `${base}3/upgrade/`, { description: 'Upgraded.' });
  expect(again.body).toMatchObject({ id: 3, tag: '2.3.0', description: 'Upgraded.' });
});

test.each([5, 9])('plugin %i, which has no versions, cannot be upgraded', async (id) => {
  await using client = await startClient();
  const before = await client.read(`${base}activity/`);
  const { status, body } = await client.send('POST', `${base}${id}/upgrade/`, { name: 'Other' });
  expect({ status, body }).toMatchObject({ status: 400, body: { type: 'validation_error', attr: 'plugin_type' } });
  expect(await client.read(`${base}activity/`)).toEqual(before);
});

test('a plugin from the repository has the files that are published there, of its version', async () => {
  await using client = await startClient();
  const versionOf = async (id: number): Promise<unknown> => {
    const files = membersOf(await client.read(`${base}${id}/source/`));
    expect(Object.keys(files)).toEqual(['index.js', 'plugin.json']);
    return membersOf(JSON.parse(String(files['plugin.json']))).version;
  };
  expect(await versionOf(1)).toBe('1.3.0');
  await client.send('POST', `${base}1/upgrade/`);
  expect(await versionOf(1)).toBe('1.4.2');
  await client.send('POST', base, { url: 'https://plugins.example.com/webhook-relay' });
  expect(await versionOf(15)).toBe('1.1.0');
});

test('a global plugin is seen by every organization, and changed by its own only', async () => {
  await using client = await startClient();
  const [, key] = demoKeys;
  const other = { authorization: `Bearer ${key}` };
  expect((await client.send('GET', `${base}1/`, undefined, other)).status).toBe(404);
  await client.send('PATCH', `${base}1/`, { is_global: true });
  const { body } = await client.send('GET', base, undefined, other);
  expect(body).toMatchObject({
    count: 6,
    results: [{ id: 1, organization_name: 'Fernweh Travel' }, {}, {}, {}, {}, {}],
  });
  expect((await client.send('GET', `${base}1/source/`, undefined, other)).status).toBe(200);
  for (const [method, path] of [
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', 'upgrade/'],
    ['PATCH', 'update_source/'],
  ] as const) {
    const refused = await client.send(method, `${base}1/${path}`, method === 'DELETE' ? undefined : {}, other);
    expect(refused).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  }
  await client.send('PATCH', `${base}1/`, { is_global: false });
  expect((await client.send('GET', `${base}1/`, undefined, other)).status).toBe(404);
});

test('the source of a plugin is a map of files, which a change adds to, and null deletes from', async () => {
  await using client = await startClient();
  const before = membersOf(await client.read(`${base}5/source/`));
  expect(Object.keys(before)).toEqual(['index.ts', 'plugin.json']);
  const files = { 'plugin.json': null, 'web.ts': 'export {};' };
  const { status, body } = await client.send('PATCH', `${base}5/update_source/`, files);
  expect({ status, body }).toEqual({ status: 200, body: { 'index.ts': before['index.ts'], 'web.ts': 'export {};' } });
  expect(await client.read(`${base}5/source/`)).toEqual(body);
});

test('a file may have the name of what objects inherit', async () => {
  await using client = await startClient();
  const { body } = await client.send('PATCH', `${base}9/update_source/`, '{"constructor":"a","__proto__":"b"}');
  expect(JSON.stringify(body)).toBe('{"__proto__":"b","constructor":"a"}');
});

test('a change of the source that holds plugin fields changes the plugin', async () => {
  await using client = await startClient();
  const { body } = await client.send('PATCH', `${base}5/update_source/`, { name: 'Renamed' });
  expect(Object.keys(membersOf(body))).toEqual(['index.ts', 'plugin.json']);
  expect(await client.read(`${base}5/`)).toMatchObject({ name: 'Renamed' });
});

test('the activity lists what was done, the newest first', async () => {
  await using client = await startClient();
  const seeded = membersOf(await client.read(`${base}activity/`));
  expect(seeded).toMatchObject({ total_count: 9, next: null, previous: null });
  await client.send('DELETE', `${base}9/`);
  const { results, total_count: count } = membersOf(await client.read(`${base}activity/`));
  expect(count).toBe(10);
  expect(rowsOf(results)[0]).toMatchObject({
    activity: 'uninstalled',
    item_id: '9',
    user: { email: 'ida@fernweh.example' },
  });
});

test('the activity comes in pages, whose links go on by limit and offset', async () => {
  await using client = await startClient();
  const whole = resultsOf(await client.read(`${base}activity/`));
  const first = membersOf(await client.read(`${base}activity/?limit=4`));
  expect(first).toMatchObject({ previous: null, total_count: 9, results: whole.slice(0, 4) });
  const second = membersOf(await client.read(targetOf(first.next)));
  expect(second.results).toEqual(whole.slice(4, 8));
  const third = membersOf(await client.read(targetOf(second.next)));
  expect(third).toMatchObject({ next: null, results: whole.slice(8) });
  expect(membersOf(await client.read(targetOf(third.previous))).results).toEqual(whole.slice(4, 8));
});

test('the activity says what changed, and nothing of a change that changes nothing', async () => {
  await using client = await startClient();
  const newest = async (): Promise<unknown> => {
    const [entry] = resultsOf(await client.read(`${base}activity/?limit=1`));
    return membersOf(entry?.detail).changes;
  };
  await client.send('PATCH', `${base}5/`, { description: 'New.', name: 'Loyalty tier' });
  const description = { before: 'Adds the loyalty tier of a traveller.', after: 'New.' };
  expect(await newest()).toEqual([{ type: 'Plugin', action: 'changed', field: 'description', ...description }]);
  await client.send('PATCH', `${base}5/`, { name: 'Loyalty tier' });
  expect(await client.read(`${base}activity/`)).toMatchObject({ total_count: 10 });
  await client.send('PATCH', `${base}5/update_source/`, { 'index.ts': '', 'a.ts': '', 'plugin.json': null });
  expect(await newest()).toEqual([
    { type: 'PluginSourceFile', action: 'changed', field: 'index.ts' },
    { type: 'PluginSourceFile', action: 'created', field: 'a.ts' },
    { type: 'PluginSourceFile', action: 'deleted', field: 'plugin.json' },
  ]);
  await client.send('POST', `${base}1/upgrade/`);
  expect(await newest()).toContainEqual({
    type: 'Plugin',
    action: 'changed',
    field: 'tag',
    before: '1.3.0',
    after: '1.4.2',
  });
});

test('the configurations to unsubscribe are those of export plugins', async () => {
  await using client = await startClient();
  expect(await client.read(`${base}exports_unsubscribe_configs/`)).toMatchObject([
    { plugin: 3, team_id: 1, enabled: true },
  ]);
});

test('the repository lists what can be installed', async () => {
  await using client = await startClient();
  const offers = rowsOf(await client.read(`${base}repository/`));
  expect(offers).toHaveLength(8);
  expect(offers[0]).toMatchObject({ name: 'GeoIP', url: 'https://plugins.example.com/geoip', latest_tag: '1.4.2' });
});

test('the unused plugins are the ids of those that no project has enabled', async () => {
  await using client = await startClient();
  expect(await client.read(`${base}unused/`)).toEqual([4, 8]);
  await client.send('DELETE', '/api/projects/4/');
  expect(await client.read(`${base}unused/`)).toEqual([4, 8, 9]);
});

test.each([
  ['POST', '', { plugin_type: 'inline' }, 'plugin_type', 'invalid_choice'],
  ['PATCH', '1/', { is_global: 'no' }, 'is_global', 'invalid_input'],
  ['POST', '1/upgrade/', { name: 5 }, 'name', 'invalid_input'],
  ['PATCH', '5/update_source/', { 'index.ts': 5 }, 'index.ts', 'invalid_input'],
])('%s %s refuses %j because of %s', async (method, path, body, attr, code) => {
  await using client = await startClient();
  const refused = await client.send(method, base + path, body);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ type: 'validation_error', code, attr });
});

test('a change of the source that is refused half-way changes nothing', async () => {
  await using client = await startClient();
  const before = await client.read(`${base}5/source/`);
  const refused = await client.send('PATCH', `${base}5/update_source/`, { 'a.ts': 'export {};', 'b.ts': 5 });
  expect(refused.status).toBe(400);
  expect(await client.read(`${base}5/source/`)).toEqual(before);
});
