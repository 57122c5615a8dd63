import { afterAll, expect, test } from 'vitest';
import { views } from '../../src/rest/generated/views.ts';
import { membersOf, resultsOf, startClient } from './client.ts';

// For tests that change settings which no other looks at.
const shared = await startClient();
afterAll(() => shared[Symbol.asyncDispose]());

test('projects are listed for the organization of the key, with the fields of the list view only', async () => {
  await using client = await startClient();
  const page = membersOf(await client.read('/api/projects/'));
  expect(page).toMatchObject({ count: 4, next: null, previous: null });
  const projects = resultsOf(page);
  expect(projects.map(({ id, name }) => [id, name])).toEqual([
    [1, 'Booking website'],
    [2, 'iOS app'],
    [3, 'Android app'],
    [4, 'Partner portal'],
  ]);
  for (const project of projects) expect(Object.keys(project).toSorted()).toEqual([...views.Project.list].toSorted());
});

test('a project is read with every field, by its id or as the current one', async () => {
  await using client = await startClient();
  const project = membersOf(await client.read('/api/projects/1/'));
  expect(Object.keys(project).toSorted()).toEqual([...views.Project.detail].toSorted());
  expect(project).toMatchObject({ id: 1, primary_dashboard: 1, session_recording_sample_rate: '0.25' });
  expect(await client.read('/api/projects/@current/')).toEqual(project);
});

test('a created project has what was asked for, defaults for the rest, and can be read again', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('POST', '/api/projects/', {
    name: 'Kiosk',
    timezone: 'Asia/Calcutta',
    unheard_of: 1,
    id: 77,
    ingested_event: true,
  });
  expect(status).toBe(201);
  const project = membersOf(body);
  expect(Object.keys(project).toSorted()).toEqual([...views.Project.detail].toSorted());
  expect(project).toMatchObject({
    id: 7,
    name: 'Kiosk',
    timezone: 'Asia/Calcutta',
    ingested_event: false,
    app_urls: [],
  });
  expect(await client.read('/api/projects/7/')).toEqual(project);
});

test('a project is not created with a primary dashboard, as it has none yet', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('POST', '/api/projects/', { primary_dashboard: 1 });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'does_not_exist', attr: 'primary_dashboard' });
  expect(await client.read('/api/projects/')).toMatchObject({ count: 4 });
});

test('a project without a body is created with a default name', async () => {
  await using client = await startClient();
  const { status, body } = await client.send('POST', '/api/projects/');
  expect({ status, name: membersOf(body).name }).toEqual({ status: 201, name: 'Default project' });
});

test('a changed project keeps what was not mentioned, and null is a value', async () => {
  await using client = await startClient();
  const before = membersOf(await client.read('/api/projects/1/'));
  const { status, body } = await client.send('PATCH', '/api/projects/1/', {
    week_start_day: null,
    primary_dashboard: 2,
  });
  expect(status).toBe(200);
  const { updated_at: changedAt, ...after } = membersOf(body);
  const { updated_at: seededAt, ...seeded } = before;
  expect(after).toEqual({ ...seeded, week_start_day: null, primary_dashboard: 2 });
  expect(changedAt).not.toBe(seededAt);
  expect(await client.read('/api/projects/1/')).toEqual(body);
});

test.each([
  ...['Africa/Abidjan', 'US/Pacific', 'Brazil/East', 'Etc/GMT+12', 'Europe/Kiev', 'Europe/Kyiv', 'Arctic/Longyearbyen'],
  ...['UTC', 'GMT', 'GMT+0', 'GMT-0', 'GMT0', 'Greenwich', 'Universal', 'Zulu', 'UCT', 'CET', 'EET', 'MET', 'WET'],
  ...['EST', 'MST', 'HST', 'EST5EDT', 'CST6CDT', 'MST7MDT', 'PST8PDT', 'Cuba', 'Egypt', 'Eire', 'GB', 'GB-Eire'],
  ...['Hongkong', 'Iceland', 'Iran', 'Israel', 'Jamaica', 'Japan', 'Kwajalein', 'Libya', 'NZ', 'NZ-CHAT', 'Navajo'],
  ...['PRC', 'Poland', 'Portugal', 'ROC', 'ROK', 'Singapore', 'Turkey', 'W-SU'],
])('the time zone %s, which the document names, is taken', async (timezone) => {
  expect((await shared.send('PATCH', '/api/projects/2/', { timezone })).body).toMatchObject({ timezone });
});

test.each(['0', '1', '1.00', '0.5', '0.125'])('the sample rate %s is taken', async (rate) => {
  const { body } = await shared.send('PATCH', '/api/projects/2/', { session_recording_sample_rate: rate });
  expect(body).toMatchObject({ session_recording_sample_rate: rate });
});

test('digits beyond 2^53 in JSON fields are stored and answered as they came', async () => {
  await using client = await startClient();
  await client.send('PATCH', '/api/projects/1/', '{"extra_settings":{"account":9007199254740993}}');
  const response = await fetch(`${client.url}/api/projects/1/`, {
    headers: { authorization: 'Bearer phx_demo_fernweh_travel' },
  });
  expect(await response.text()).toContain('"extra_settings":{"account":9007199254740993}');
});

test('a deleted project is gone with what was in it, and the next one becomes the current one', async () => {
  await using client = await startClient();
  const { status, body, headers } = await client.send('DELETE', '/api/projects/1/');
  expect({ status, body, type: headers.get('content-type') }).toEqual({ status: 204, body: '', type: null });
  expect((await client.send('GET', '/api/projects/1/')).status).toBe(404);
  expect((await client.send('GET', '/api/projects/1/dashboards/')).status).toBe(404);
  expect(await client.read('/api/projects/@current/')).toMatchObject({ id: 2 });
  expect((await client.send('POST', '/api/projects/')).body).toMatchObject({ id: 7 });
});

test.each([
  ['timezone', { timezone: 'Mars/Olympus' }, 'invalid_choice'],
  ['timezone', { timezone: '+01:00' }, 'invalid_choice'],
  ['timezone', { timezone: 'europe/berlin' }, 'invalid_choice'],
  ['timezone', { timezone: 'utc' }, 'invalid_choice'],
  ['timezone', { timezone: 'PST' }, 'invalid_choice'],
  ['session_recording_sample_rate', { session_recording_sample_rate: '1.01' }, 'invalid_input'],
  ['session_recording_sample_rate', { session_recording_sample_rate: '-0.5' }, 'invalid_input'],
  ['session_recording_sample_rate', { session_recording_sample_rate: 'half' }, 'invalid_input'],
  ['session_recording_sample_rate', { session_recording_sample_rate: '1e-3' }, 'invalid_input'],
  [
    'session_recording_minimum_duration_milliseconds',
    { session_recording_minimum_duration_milliseconds: -1 },
    'invalid_input',
  ],
  [
    'session_recording_minimum_duration_milliseconds',
    { session_recording_minimum_duration_milliseconds: 2 ** 31 },
    'invalid_input',
  ],
  ['week_start_day', { week_start_day: 2 }, 'invalid_choice'],
  ['name', { name: null }, 'invalid_input'],
  ['app_urls__1', { app_urls: ['https://a.example', 5] }, 'invalid_input'],
  ['primary_dashboard', { primary_dashboard: 51 }, 'does_not_exist'],
])('a project is not changed if %s is wrong: %j', async (attr, body, code) => {
  await using client = await startClient();
  const before = await client.read('/api/projects/1/');
  const refused = await client.send('PATCH', '/api/projects/1/', body);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ type: 'validation_error', code, attr });
  expect(await client.read('/api/projects/1/')).toEqual(before);
});
