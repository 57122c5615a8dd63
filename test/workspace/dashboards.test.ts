import { expect, test } from 'vitest';
import { views } from '../../src/rest/generated/views.ts';
import { membersOf, type Reply, resultsOf, rowsOf, startClient } from './client.ts';

const detail = [...views.Dashboard.detail].toSorted();
const base = '/api/projects/1/dashboards/';

test('dashboards are listed with the fields of the list view only', async () => {
  await using client = await startClient();
  const page = membersOf(await client.read(base));
  expect(page).toMatchObject({ count: 10, next: null, previous: null });
  for (const dashboard of resultsOf(page)) {
    expect(Object.keys(dashboard).toSorted()).toEqual([...views.Dashboard.list].toSorted());
  }
});

test('a dashboard is read with every field of the detail view', async () => {
  await using client = await startClient();
  const dashboard = membersOf(await client.read(`${base}1/`));
  expect(Object.keys(dashboard).toSorted()).toEqual(detail);
  expect(dashboard).toMatchObject({
    id: 1,
    name: 'Weekly growth',
    pinned: true,
    deleted: false,
    creation_mode: 'default',
    restriction_level: 21,
    use_template: '',
    use_dashboard: null,
    delete_insights: false,
    created_by: { id: 1, first_name: 'Ida', email: 'ida@fernweh.example' },
  });
  expect(rowsOf(dashboard.tiles).map(({ id }) => id)).toEqual([1, 2, 3]);
});

test('a dashboard of another project is not found', async () => {
  await using client = await startClient();
  expect((await client.send('GET', '/api/projects/2/dashboards/1/')).status).toBe(404);
});

test('a created dashboard belongs to the user of the key and can be read again', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('POST', base, {
    name: 'Launch',
    tags: ['q4', null],
    restriction_level: 37,
  });
  expect(status).toBe(201);
  expect(Object.keys(membersOf(body)).toSorted()).toEqual(detail);
  expect(body).toMatchObject({
    id: 61,
    name: 'Launch',
    tags: ['q4', null],
    restriction_level: 37,
    effective_restriction_level: 37,
    created_by: { id: 1 },
    creation_mode: 'default',
    tiles: [],
  });
  expect(await client.read(`${base}61/`)).toEqual(body);
});

test('a dashboard created from a named template has its tiles, and the name that was asked for', async () => {
  await using client = await startClient();
  const { body } = await client.send('POST', base, { name: 'Traffic', use_template: 'Website traffic' });
  expect(body).toMatchObject({ name: 'Traffic', creation_mode: 'template', tags: ['marketing'] });
  expect(body).toMatchObject({ use_template: 'Website traffic', use_dashboard: null });
  expect(rowsOf(membersOf(body).tiles)).toMatchObject([
    { insight: { name: 'Page views' } },
    { insight: { name: 'Page leaves' } },
  ]);
});

test('a dashboard created from another one has copies of its tiles', async () => {
  await using client = await startClient();
  const source = membersOf(await client.read(`${base}1/`));
  const copy = membersOf((await client.send('POST', base, { name: 'Copy', use_dashboard: 1 })).body);
  expect(copy).toMatchObject({ name: 'Copy', creation_mode: 'duplicate', filters: source.filters, use_dashboard: 1 });
  expect(await client.read(`${base}${String(copy.id)}/`)).toMatchObject({ use_dashboard: 1, use_template: '' });
  const contentOf = (tiles: unknown) => rowsOf(tiles).map(({ id: _id, ...content }) => content);
  expect(contentOf(copy.tiles)).toEqual(contentOf(source.tiles));
  expect(await client.read(`${base}1/`)).toEqual(source);
});

test('a dashboard is created from a template in JSON with status 200', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('POST', `${base}create_from_template_json/`, {
    template: { template_name: 'Ours', dashboard_description: 'Own.', tags: ['x'], tiles: [{ id: 1, color: 'red' }] },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: 'Ours', description: 'Own.', tags: ['x'], creation_mode: 'template' });
  const [tile, ...others] = rowsOf(membersOf(body).tiles);
  expect(tile).toMatchObject({ color: 'red' });
  expect(tile?.id).not.toBe(1);
  expect(others).toEqual([]);
});

test('a changed dashboard keeps what was not mentioned', async () => {
  await using client = await startClient();
  const before = membersOf(await client.read(`${base}1/`));
  const { status, body } = await client.send('PATCH', `${base}1/`, {
    description: 'New.',
  });
  expect(status).toBe(200);
  expect(body).toEqual({ ...before, description: 'New.' });
  expect(await client.read(`${base}1/`)).toEqual(body);
});

test('a template that a change names fills what is blank, and adds its tiles', async () => {
  await using client = await startClient();
  await client.send('POST', base, { name: 'Mine' });
  const { status, body } = await client.send('PATCH', `${base}61/`, { use_template: 'Website traffic', pinned: true });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name: 'Mine',
    description: 'Where visitors come from, and what they look at.',
    tags: ['marketing'],
    pinned: true,
    use_template: 'Website traffic',
  });
  expect(rowsOf(membersOf(body).tiles)).toMatchObject([
    { insight: { name: 'Page views' } },
    { insight: { name: 'Page leaves' } },
  ]);
  expect(await client.read(`${base}61/`)).toEqual(body);
  const { id: _id, tiles, ...sentBack } = membersOf(body);
  expect(membersOf((await client.send('PATCH', `${base}61/`, sentBack)).body).tiles).toEqual(tiles);
});

test('a dashboard that is copied into itself again and again ends with 500 tiles', async () => {
  await using client = await startClient();
  const statuses: number[] = [];
  for (let copies = 0; copies < 9; copies += 1) {
    statuses.push((await client.send('PATCH', `${base}1/`, { use_dashboard: 1 })).status);
    await client.send('PATCH', `${base}1/`, { use_dashboard: null });
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 400, 400]);
  expect(rowsOf(membersOf(await client.read(`${base}1/`)).tiles)).toHaveLength(384);
});

test('the tiles of a dashboard hold two million characters at most, whether added or moved', async () => {
  await using client = await startClient();
  const template = { tiles: [{ text: 'x'.repeat(900_000) }] };
  for (const id of [61, 62]) {
    const { body } = await client.send('POST', `${base}create_from_template_json/`, { template });
    expect(body).toMatchObject({ id });
    await client.send('PATCH', `${base}${id}/`, { use_dashboard: id });
    await client.send('PATCH', `${base}${id}/`, { use_dashboard: null });
  }
  expect((await client.send('PATCH', `${base}61/`, { use_dashboard: 61 })).status).toBe(400);
  const tiles = rowsOf(membersOf(await client.read(`${base}61/`)).tiles);
  expect(tiles).toHaveLength(2);
  const move = { tile: { id: tiles[0]?.id }, toDashboard: 62 };
  expect((await client.send('PATCH', `${base}61/move_tile/`, move)).status).toBe(400);
  expect(rowsOf(membersOf(await client.read(`${base}61/`)).tiles)).toEqual(tiles);
});

test('the variables of a template take their defaults, as they are or within a text', async () => {
  await using client = await startClient();
  const event = { id: 'signed up', type: 'events' };
  const { body } = await client.send('POST', `${base}create_from_template_json/`, {
    template: {
      template_name: 'From {APP}',
      variables: [
        { id: 'START', default: event, required: true },
        { id: 'APP', default: 'iOS' },
        { id: 'OPTIONAL', required: false },
      ],
      tiles: [{ insight: { name: 'Users of {APP}', events: ['{START}', '{OPTIONAL}', '{OTHER}'] } }],
    },
  });
  expect(body).toMatchObject({
    name: 'From iOS',
    tiles: [{ insight: { name: 'Users of iOS', events: [event, '{OPTIONAL}', '{OTHER}'] } }],
  });
});

test('the documented body makes a dashboard even though a template is expected, and answers 200', async () => {
  await using client = await startClient();
  const path = `${base}create_from_template_json/`;
  const plain = await client.send('POST', path, { name: 'Plain', pinned: true, filters: { date_from: '-7d' } });
  expect(plain).toMatchObject({ status: 200, body: { id: 61, name: 'Plain', pinned: true, tiles: [] } });
  const named = await client.send('POST', path, { use_template: 'DEFAULT_APP' });
  expect(named).toMatchObject({ status: 200, body: { name: 'My App Dashboard', use_template: 'DEFAULT_APP' } });
});

test('the documented body changes the dashboard even though a tile is expected, and with a tile does both', async () => {
  await using client = await startClient();
  const renamed = await client.send('PATCH', `${base}1/move_tile/`, { name: 'Renamed', restriction_level: 37 });
  expect(renamed).toMatchObject({ status: 200, body: { id: 1, name: 'Renamed', restriction_level: 37 } });
  expect(rowsOf(membersOf(renamed.body).tiles)).toHaveLength(3);
  const body = { tile: { id: 2 }, toDashboard: 2, description: 'Less.' };
  const moved = await client.send('PATCH', `${base}1/move_tile/`, body);
  expect(moved).toMatchObject({ status: 200, body: { name: 'Renamed', description: 'Less.' } });
  expect(rowsOf(membersOf(moved.body).tiles).map(({ id }) => id)).toEqual([1, 3]);
});

test('a hard delete answers 405 without body and content type, and removes nothing', async () => {
  await using client = await startClient();
  const { status, body, headers } = await client.send('DELETE', `${base}1/`);
  expect({ status, body, type: headers.get('content-type') }).toEqual({ status: 405, body: '', type: null });
  expect(await client.read(`${base}1/`)).toMatchObject({ id: 1, deleted: false });
});

test('a soft-deleted dashboard leaves the list and is not found, until it is restored', async () => {
  await using client = await startClient();
  const before = membersOf(await client.read(`${base}1/`));
  const deleted = await client.send('PATCH', `${base}1/`, { deleted: true });
  expect(deleted).toMatchObject({ status: 200, body: { ...before, deleted: true } });
  expect(await client.read(base)).toMatchObject({ count: 9 });
  expect((await client.send('GET', `${base}1/`)).status).toBe(404);
  const restored = await client.send('PATCH', `${base}1/`, { deleted: false });
  expect(restored).toMatchObject({ status: 200, body: before });
  expect(await client.read(base)).toMatchObject({ count: 10 });
});

test.each([{ deleted: false, name: 'Back' }, { name: 'Back' }, {}])(
  'a deleted dashboard is not restored by a body that is not exactly {"deleted": false}: %j',
  async (body) => {
    await using client = await startClient();
    await client.send('PATCH', `${base}1/`, { deleted: true });
    expect((await client.send('PATCH', `${base}1/`, body)).status).toBe(404);
    expect(await client.read(base)).toMatchObject({ count: 9 });
  },
);

test('deleting with delete_insights takes the insights along, so that they do not come back', async () => {
  await using client = await startClient();
  const texts = rowsOf(membersOf(await client.read(`${base}2/`)).tiles).filter(({ insight }) => insight === null);
  expect(texts).toHaveLength(1);
  await client.send('PATCH', `${base}2/`, { deleted: true, delete_insights: true });
  const restored = await client.send('PATCH', `${base}2/`, { deleted: false });
  expect(membersOf(restored.body).tiles).toEqual(texts);
});

test('a tile moves to the other dashboard, and the source is answered', async () => {
  await using client = await startClient();
  const idsOf = (dashboard: unknown) => rowsOf(membersOf(dashboard).tiles).map(({ id }) => id);
  const target = idsOf(await client.read(`${base}2/`));
  const moved = await client.send('PATCH', `${base}1/move_tile/`, { tile: { id: 2 }, toDashboard: 2 });
  expect(moved).toMatchObject({ status: 200, body: { id: 1 } });
  expect(idsOf(moved.body)).toEqual([1, 3]);
  expect(idsOf(await client.read(`${base}2/`))).toEqual([2, ...target]);
});

test.each([
  ['PATCH', '1/move_tile/', { toDashboard: 2 }, 'tile', 'required'],
  ['PATCH', '1/move_tile/', { tile: {} }, 'tile__id', 'required'],
  ['PATCH', '1/move_tile/', { tile: { id: 1 } }, 'toDashboard', 'required'],
  ['PATCH', '1/move_tile/', { tile: { id: 'x' }, toDashboard: 2 }, 'tile__id', 'invalid_input'],
  ['PATCH', '1/move_tile/', { tile: { id: 999 }, toDashboard: 2 }, 'tile__id', 'does_not_exist'],
  ['PATCH', '1/move_tile/', { tile: { id: 1 }, toDashboard: 11 }, 'toDashboard', 'does_not_exist'],
  ['PATCH', '1/', { pinned: 'yes' }, 'pinned', 'invalid_input'],
  ['PATCH', '1/', { restriction_level: 5 }, 'restriction_level', 'invalid_choice'],
  ['PATCH', '1/', { tags: [5] }, 'tags__0', 'invalid_input'],
  ['POST', '', { use_template: 'None such' }, 'use_template', 'invalid_input'],
  ['POST', '', { use_template: 'constructor' }, 'use_template', 'invalid_input'],
  ['POST', '', { use_dashboard: 11 }, 'use_dashboard', 'does_not_exist'],
  ['PATCH', '1/', { use_template: 'None such' }, 'use_template', 'invalid_input'],
  ['POST', 'create_from_template_json/', { use_dashboard: 11 }, 'use_dashboard', 'does_not_exist'],
  [
    'POST',
    'create_from_template_json/',
    { template: { variables: [{ id: 'X', required: true }] } },
    'template__variables__0__default',
    'required',
  ],
  [
    'POST',
    'create_from_template_json/',
    { template: { variables: [{ id: 'X', default: 'x'.repeat(10_000) }] } },
    'template__variables__0__default',
    'invalid_input',
  ],
  [
    'POST',
    'create_from_template_json/',
    { template: { variables: [{ id: 'X', default: 1 }], tiles: [{ text: '{X}'.repeat(1001) }] } },
    'template',
    'invalid_input',
  ],
  ['POST', 'create_from_template_json/', { template: [] }, 'template', 'invalid_input'],
])('%s %s refuses %j because of %s', async (method, path, body, attr, code) => {
  await using client = await startClient();
  const refused: Reply = await client.send(method, base + path, body);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ type: 'validation_error', code, attr });
  expect(await client.read(base)).toMatchObject({ count: 10 });
});
