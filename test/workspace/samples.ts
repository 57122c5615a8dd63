const projects = '/api/projects/';
const project = `${projects}{project_id}/`;
const plugins = '/api/organizations/{parent_lookup_organization_id}/plugins/';

/** A request, and the operation of the document that it asks for. */
export interface Sample {
  readonly method: string;
  /** As in the document. */
  readonly path: string;
  /** The target that is sent, from the path's first parameter that is no owner. `{event}` is the id of an event. */
  readonly sent: string;
  readonly body?: object;
}

/** Each operation of the document once or more: with all parameters, with the documented body and the real one. */
export const samples: readonly Sample[] = [
  get(projects, ''),
  get(projects, '?limit=2&offset=1'),
  post(projects, '', { name: 'New', timezone: 'Europe/Berlin', app_urls: ['https://a.example'], week_start_day: 1 }),
  get(`${projects}{id}/`, '1/'),
  get(`${projects}{id}/`, '@current/'),
  patch(`${projects}{id}/`, '1/', {
    is_demo: true,
    session_recording_sample_rate: '0.50',
    session_recording_minimum_duration_milliseconds: 1500,
    test_account_filters: [{ key: 'email', type: 'person', value: '@a.example', operator: 'not_icontains' }],
    primary_dashboard: null,
    live_events_columns: null,
  }),
  send('DELETE', `${projects}{id}/`, '4/'),

  get(`${project}dashboards/`, ''),
  get(`${project}dashboards/`, '?limit=3&offset=3'),
  post(`${project}dashboards/`, '', { use_dashboard: 1, name: 'Copy' }),
  post(`${project}dashboards/`, '', { use_template: 'DEFAULT_APP', tags: ['a', null], restriction_level: 37 }),
  get(`${project}dashboards/{id}/`, '1/'),
  patch(`${project}dashboards/{id}/`, '1/', {
    pinned: false,
    filters: { date_from: '-7d' },
    use_template: 'DEFAULT_APP',
  }),
  patch(`${project}dashboards/{id}/`, '3/', { deleted: true, delete_insights: true }),
  patch(`${project}dashboards/{id}/`, '3/', { deleted: false }),
  send('DELETE', `${project}dashboards/{id}/`, '1/'),
  patch(`${project}dashboards/{id}/move_tile/`, '1/move_tile/', { tile: { id: 1 }, toDashboard: 2 }),
  patch(`${project}dashboards/{id}/move_tile/`, '1/move_tile/', { name: 'Renamed', description: '' }),
  post(`${project}dashboards/create_from_template_json/`, '', {
    template: {
      template_name: 'Ours',
      tiles: [{ insight: { name: '{NAME}' } }],
      variables: [{ id: 'NAME', default: 'A' }],
    },
  }),
  post(`${project}dashboards/create_from_template_json/`, '', { name: 'Plain' }),

  get(`${project}events/`, ''),
  get(`${project}events/`, '?limit=2&offset=2&after=2026-11-01T00%3A00%3A00Z&before=2026-11-15&event=%24pageview'),
  get(`${project}events/`, '?limit=2&properties=%5B%7B%22key%22%3A%22%24browser%22%2C%22value%22%3A%22Edge%22%7D%5D'),
  get(
    `${project}events/`,
    '?limit=2&select=%5B%22event%22%2C%22timestamp%20as%20at%22%5D&where=%5B%221%20%3D%201%22%5D',
  ),
  get(`${project}events/`, '?limit=2&format=csv'),
  get(`${project}events/`, '?distinct_id=00000002&format=json'),
  get(`${project}events/`, '?person_id=7&limit=1'),
  get(`${project}events/{id}/`, '{event}/'),
  get(`${project}events/{id}/`, '{event}/?format=csv'),
  get(`${project}events/values/`, '?key=$lib'),
  get(`${project}events/values/`, '?key=$lib&event_name=%24pageview&format=csv'),

  get(plugins, ''),
  get(plugins, '?limit=2&offset=2'),
  post(plugins, '', { name: 'New', plugin_type: 'source', is_global: false, config_schema: [], capabilities: null }),
  post(plugins, '', { url: 'https://plugins.example.com/webhook-relay' }),
  get(`${plugins}{id}/`, '1/'),
  patch(`${plugins}{id}/`, '1/', { name: 'Renamed', description: null, is_global: true }),
  send('DELETE', `${plugins}{id}/`, '2/'),
  get(`${plugins}{id}/check_for_updates/`, '1/check_for_updates/'),
  get(`${plugins}{id}/source/`, '5/source/'),
  get(`${plugins}{id}/source/`, '1/source/'),
  patch(`${plugins}{id}/update_source/`, '5/update_source/', { 'index.ts': '', 'plugin.json': null }),
  patch(`${plugins}{id}/update_source/`, '5/update_source/', { name: 'Renamed', tag: '2' }),
  post(`${plugins}{id}/upgrade/`, '1/upgrade/', {}),
  post(`${plugins}{id}/upgrade/`, '3/upgrade/', { description: 'Upgraded.' }),
  get(`${plugins}activity/`, ''),
  get(`${plugins}exports_unsubscribe_configs/`, ''),
  get(`${plugins}repository/`, ''),
  get(`${plugins}unused/`, ''),
];

function send(method: string, path: string, sent: string, body?: object): Sample {
  return { method, path, sent, ...(body !== undefined && { body }) };
}

function get(path: string, sent: string): Sample {
  return send('GET', path, sent);
}

function post(path: string, sent: string, body: object): Sample {
  return send('POST', path, sent, body);
}

function patch(path: string, sent: string, body: object): Sample {
  return send('PATCH', path, sent, body);
}

/** The target of a sample in project 1 of the current organization. */
export function targetIn({ path, sent }: Sample, eventId: string): string {
  const start = path.replace('{project_id}', '1').replace('{parent_lookup_organization_id}', '@current');
  return start.replace(/\{id\}.*/, '') + sent.replace('{event}', eventId);
}
