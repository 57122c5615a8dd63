import { afterAll, expect, test } from 'vitest';
import { demoKeys } from '../../workspace/workspace.ts';
import { membersOf, refusal, startClient } from './client.ts';

// Nothing here writes, so that one workspace serves all.
const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

const [, bankKey] = demoKeys;
const said: unknown = expect.any(String);

test.each(['', 'phx_demo_fernweh_travel', 'bearer phx_demo_fernweh_travel', 'Basic abc'])(
  'a request is not authenticated by the header %j',
  async (authorization) => {
    const { status, body } = await client.send('GET', '/api/projects/', undefined, { authorization });
    expect(status).toBe(401);
    expect(body).toEqual(refusal('authentication_error', 'not_authenticated', null, said));
  },
);

test('an unknown key fails to authenticate', async () => {
  const { status, body } = await client.send('GET', '/api/projects/', undefined, { authorization: 'Bearer phx_no' });
  expect(status).toBe(401);
  expect(body).toEqual(refusal('authentication_error', 'authentication_failed', null, said));
});

test.each([
  '/api/projects/1/',
  '/api/projects/1/dashboards/',
  '/api/projects/1/dashboards/1/',
  '/api/projects/1/events/',
  '/api/projects/1/events/values/?key=$browser',
])("another organization's %s is not found", async (path) => {
  const { status, body } = await client.send('GET', path, undefined, { authorization: `Bearer ${bankKey}` });
  expect(status).toBe(404);
  expect(body).toEqual(refusal('invalid_request', 'not_found', null, said));
});

test('the plugins of another organization are forbidden, those of an unknown one not found', async () => {
  const { organization } = membersOf(await client.read('/api/projects/1/'));
  const authorization = `Bearer ${bankKey}`;
  const other = await client.send('GET', `/api/organizations/${String(organization)}/plugins/`, undefined, {
    authorization,
  });
  expect(other.status).toBe(403);
  expect(other.body).toEqual(refusal('authentication_error', 'permission_denied', null, said));
  const unknown = await client.send('GET', '/api/organizations/00000000-0000-4000-8000-000000000000/plugins/');
  expect(unknown.status).toBe(404);
});

test('a plugin of another organization is not found within the own one', async () => {
  expect((await client.send('GET', '/api/organizations/@current/plugins/10/')).status).toBe(404);
});

test.each([
  '/api/projects/99/',
  '/api/projects/x/',
  '/api/projects/12345678901234567890/',
  '/api/projects/-1/dashboards/',
  '/api/projects/1/dashboards/999/',
  '/api/projects/1/dashboards/x/',
  '/api/projects/1/events/x/',
  '/api/organizations/@current/plugins/x/',
  '/api/organizations/@current/plugins/activity/x/',
  '/api/projects',
  '/api/projects/1',
  '/api/insights/',
  '/',
])('GET %s is not found', async (path) => {
  const { status, body } = await client.send('GET', path);
  expect(status).toBe(404);
  expect(body).toEqual(refusal('invalid_request', 'not_found', null, said));
});

test.each([
  ['that is cut off', '{', 'application/json', 400, 'parse_error'],
  ['that is an array', '[]', 'application/json', 400, 'invalid_input'],
  ['that is null', 'null', 'application/json', 400, 'invalid_input'],
  ['that nests too deep', '['.repeat(100_000) + ']'.repeat(100_000), 'application/json', 400, 'parse_error'],
  ['that is a form', 'name=x', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  ['that is too large', `{"name":"${'x'.repeat(2_000_000)}"}`, 'application/json', 413, 'invalid_input'],
])('a body %s is refused', async (_case, body, type, status, code) => {
  const refused = await client.send('POST', '/api/projects/', body, { 'content-type': type });
  expect(refused.status).toBe(status);
  expect(refused.body).toMatchObject({ code, attr: null });
  expect(await client.read('/api/projects/')).toMatchObject({ count: 4 });
});

test('an address that cannot be decoded is refused in the error format', async () => {
  const { status, body } = await client.send('GET', '/api/projects/%zz/');
  expect(status).toBe(400);
  expect(body).toEqual(refusal('validation_error', 'invalid_input', null, said));
});

test('only the first of several errors is passed on', async () => {
  const { body } = await client.send('PATCH', '/api/projects/1/', { is_demo: 'x', week_start_day: 'y' });
  expect(Object.keys(membersOf(body))).toEqual(['type', 'code', 'detail', 'attr']);
  expect(['is_demo', 'week_start_day']).toContain(membersOf(body).attr);
});
