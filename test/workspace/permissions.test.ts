import { expect, test } from 'vitest';
import { memberKeys } from '../../workspace/workspace.ts';
import { type Client, membersOf, type Reply, startClient } from './client.ts';

const base = '/api/projects/1/dashboards/';
const member = { authorization: `Bearer ${memberKeys[0]}` };

/** Sends a request with the key of the second member, who is no administrator. */
function sendAsMember(client: Client, method: string, path: string, body?: object): Promise<Reply> {
  return client.send(method, path, body, member);
}

async function restricted(client: Client): Promise<string> {
  const { body } = await client.send('POST', base, { name: 'Board', restriction_level: 37 });
  return `${base}${String(membersOf(body).id)}/`;
}

test.each([
  ['', { name: 'Changed' }],
  ['', { deleted: true }],
  ['', { restriction_level: 21 }],
  ['move_tile/', { name: 'Changed' }],
])('a restricted dashboard refuses PATCH %s%j of a member who did not create it', async (path, body) => {
  await using client = await startClient();
  const dashboard = await restricted(client);
  const refused = await sendAsMember(client, 'PATCH', dashboard + path, body);
  expect(refused).toMatchObject({ status: 403, body: { type: 'authentication_error', code: 'permission_denied' } });
  expect(await client.read(dashboard)).toMatchObject({ name: 'Board', deleted: false, restriction_level: 37 });
});

test('a restricted dashboard takes no tiles from a member who did not create it', async () => {
  await using client = await startClient();
  const target = Number((await restricted(client)).split('/').at(-2));
  const refused = await sendAsMember(client, 'PATCH', `${base}1/move_tile/`, { tile: { id: 1 }, toDashboard: target });
  expect(refused.status).toBe(403);
  expect(await client.read(`${base}1/`)).toMatchObject({ tiles: [{ id: 1 }, { id: 2 }, { id: 3 }] });
});

test('a user who may change a restricted dashboard has the level 37, everyone else 21', async () => {
  await using client = await startClient();
  const dashboard = await restricted(client);
  expect(await client.read(dashboard)).toMatchObject({
    effective_restriction_level: 37,
    effective_privilege_level: 37,
  });
  expect((await sendAsMember(client, 'GET', dashboard)).body).toMatchObject({ effective_privilege_level: 21 });
  expect((await sendAsMember(client, 'GET', `${base}1/`)).body).toMatchObject({ effective_privilege_level: 37 });
});

test('its creator changes a restricted dashboard, and so does the owner of the organization', async () => {
  await using client = await startClient();
  const { body } = await sendAsMember(client, 'POST', base, { name: 'Mine', restriction_level: 37 });
  const path = `${base}${String(membersOf(body).id)}/`;
  expect((await sendAsMember(client, 'PATCH', path, { name: 'Still mine' })).status).toBe(200);
  expect((await client.send('PATCH', path, { restriction_level: 21 })).status).toBe(200);
});

test('a dashboard for everyone is changed by any member, but restricted by its creator and administrators only', async () => {
  await using client = await startClient();
  expect((await sendAsMember(client, 'PATCH', `${base}1/`, { name: 'Ours' })).status).toBe(200);
  expect((await sendAsMember(client, 'PATCH', `${base}1/`, { restriction_level: 37 })).status).toBe(403);
  expect((await sendAsMember(client, 'PATCH', `${base}1/`, { restriction_level: 21 })).status).toBe(200);
});

test('projects are made and deleted by administrators only, and tell each user the own level', async () => {
  await using client = await startClient();
  expect((await sendAsMember(client, 'POST', '/api/projects/', { name: 'New' })).status).toBe(403);
  expect((await sendAsMember(client, 'DELETE', '/api/projects/1/')).status).toBe(403);
  expect(await client.read('/api/projects/1/')).toMatchObject({ effective_membership_level: 15 });
  expect((await sendAsMember(client, 'GET', '/api/projects/1/')).body).toMatchObject({ effective_membership_level: 1 });
});
