import { expect, test } from 'vitest';
import { operations, requestColumns, views } from '../../src/rest/generated/views.ts';
import { document, objectAt, parametersOf, resolved } from './document.ts';

/** Every field of a noun in order; a `*` follows those that requests accept. */
const fields = {
  Plugin: `id plugin_type* name* description* url icon* config_schema* tag* latest_tag is_global* organization_id
    organization_name capabilities* metrics* public_jobs*`,
  Dashboard: `id name* description* pinned* created_at created_by is_shared deleted* creation_mode use_template*
    use_dashboard* delete_insights* filters* tags* tiles restriction_level* effective_restriction_level
    effective_privilege_level`,
  Event: 'id distinct_id properties event timestamp person elements elements_chain',
  Project: `id uuid organization api_token app_urls* name* slack_incoming_webhook* created_at updated_at anonymize_ips*
    completed_snippet_onboarding* ingested_event test_account_filters* test_account_filters_default_checked*
    path_cleaning_filters* is_demo* timezone* data_attributes* person_display_name_properties* correlation_config*
    autocapture_opt_out* autocapture_exceptions_opt_in* autocapture_exceptions_errors_to_ignore*
    capture_console_log_opt_in* capture_performance_opt_in* session_recording_opt_in* session_recording_sample_rate*
    session_recording_minimum_duration_milliseconds* session_recording_linked_flag*
    session_recording_network_payload_capture_config* session_replay_config* effective_membership_level
    access_control* week_start_day* has_group_types primary_dashboard* live_events_columns* recording_domains*
    person_on_events_querying_enabled groups_on_events_querying_enabled inject_web_apps* extra_settings*
    has_completed_onboarding_for* surveys_opt_in*`,
  User: 'id uuid distinct_id first_name last_name email is_email_verified',
};

/** The list views that hold less than the detail view. */
const listFields = {
  Dashboard: `id name description pinned created_at created_by is_shared deleted creation_mode tags restriction_level
    effective_restriction_level effective_privilege_level`,
  Project: `id uuid organization api_token name completed_snippet_onboarding has_completed_onboarding_for ingested_event
    is_demo timezone access_control`,
};

test.each(['Plugin', 'Dashboard', 'Event', 'Project', 'User'] as const)('%s has the fields of the contract', (noun) => {
  const names = words(fields[noun]).map((name) => name.replace('*', ''));
  expect(views[noun].detail).toEqual(names);
  expect(views[noun].list).toEqual(noun === 'Dashboard' || noun === 'Project' ? words(listFields[noun]) : names);
});

test.each(['Plugin', 'Dashboard', 'Project'] as const)('requests accept the %s fields of the contract', (noun) => {
  const accepted = words(fields[noun]).filter((name) => name.endsWith('*'));
  expect(requestColumns[noun]).toEqual(accepted.map((name) => name.slice(0, -1)));
});

test.each([
  ['listProjects', ['limit', 'offset'], ['200']],
  ['createProject', [], ['201']],
  ['getProject', ['id'], ['200']],
  ['updateProject', ['id'], ['200']],
  ['deleteProject', ['id'], ['200', '202', '204']],
  ['listDashboards', ['project_id', 'limit', 'offset'], ['200']],
  ['createDashboard', ['project_id'], ['201']],
  ['getDashboard', ['project_id', 'id'], ['200']],
  ['updateDashboard', ['project_id', 'id'], ['200']],
  ['deleteDashboard', ['project_id', 'id'], ['405']],
  ['moveDashboardTile', ['project_id', 'id'], ['200']],
  ['createDashboardFromTemplate', ['project_id'], ['200']],
  [
    'listEvents',
    words(`project_id after before distinct_id event format limit offset person_id properties select where`),
    ['200'],
  ],
  ['getEvent', ['project_id', 'id', 'format'], ['200']],
  ['listEventValues', ['project_id', 'key', 'event_name', 'format'], ['200']],
  ['listPlugins', ['parent_lookup_organization_id', 'limit', 'offset'], ['200']],
  ['createPlugin', ['parent_lookup_organization_id'], ['201']],
  ['getPlugin', ['parent_lookup_organization_id', 'id'], ['200']],
  ['updatePlugin', ['parent_lookup_organization_id', 'id'], ['200']],
  ['deletePlugin', ['parent_lookup_organization_id', 'id'], ['204']],
  ['checkPluginForUpdates', ['parent_lookup_organization_id', 'id'], ['200']],
  ['getPluginSource', ['parent_lookup_organization_id', 'id'], ['200']],
  ['updatePluginSource', ['parent_lookup_organization_id', 'id'], ['200']],
  ['upgradePlugin', ['parent_lookup_organization_id', 'id'], ['200']],
  ['listPluginActivity', ['parent_lookup_organization_id'], ['200']],
  ['listPluginExportsUnsubscribeConfigs', ['parent_lookup_organization_id'], ['200']],
  ['listPluginRepository', ['parent_lookup_organization_id'], ['200']],
  ['listUnusedPlugins', ['parent_lookup_organization_id'], ['200']],
] as const)('%s takes the parameters and answers the statuses of the contract', (id, parameters, statuses) => {
  expect(new Set(parametersOf(id).map(({ name }) => name))).toEqual(new Set(parameters));
  const { method, path } = operations[id];
  expect(Object.keys(objectAt(document, 'paths', path, method.toLowerCase(), 'responses'))).toEqual([
    ...statuses,
    'default',
  ]);
});

test('every path ends with a slash and declares exactly the parameters of its template', () => {
  for (const [id, { path }] of Object.entries(operations)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = parametersOf(id).filter(({ isInPath }) => isInPath);
    expect(path.endsWith('/')).toBe(true);
    expect(new Set(declared.map(({ name }) => name))).toEqual(new Set(named));
  }
});

test.each([
  ['PluginRequest', 'plugin_type', ['local', 'custom', 'repository', 'source']],
  ['DashboardRequest', 'restriction_level', [21, 37]],
  ['ProjectRequest', 'week_start_day', [0, 1, null]],
])('%s takes for %s the values that the contract lists', (schema, column, values) => {
  expect(objectAt(document, 'components', 'schemas', schema, 'properties', column)['enum']).toEqual(values);
});

test.each(['ProjectRequest', 'DashboardRequest', 'PluginRequest'])(
  '%s lets fields through that the contract does not show',
  (schema) => {
    const { additionalProperties, required } = objectAt(document, 'components', 'schemas', schema);
    expect([additionalProperties, required]).toEqual([true, undefined]);
  },
);

test('every reference resolves', () => {
  const references = [...nodesOf(document)].filter(({ node }) => '$ref' in node);
  expect(references.length).toBeGreaterThan(100);
  for (const { node } of references) expect(resolved(node)).not.toBe(node);
});

test('every operation, response, parameter, schema and field is described', () => {
  const undescribed = [...nodesOf(document)]
    .filter(({ node, path }) => needsDescription(path) && typeof resolved(node)['description'] !== 'string')
    .map(({ path }) => path.join(' '));
  expect(undescribed).toEqual([]);
});

function words(text: string): string[] {
  return text.split(/\s+/);
}

/** True if the element at this path needs a description: an operation, response, component, or field of a schema. */
function needsDescription(path: readonly string[]): boolean {
  const [section] = path;
  if (section === 'paths') {
    return (path.length === 3 && path[2] !== 'parameters') || (path.length === 5 && path[3] === 'responses');
  }
  return section === 'components' && (path.length === 3 || isField(path));
}

/** A field stands under `properties`, unless that is itself a field of that name, as events have one. */
function isField(path: readonly string[]): boolean {
  return path.at(-2) === 'properties' && !isField(path.slice(0, -1));
}

/** All objects and lists in a value, with the path of each. */
function* nodesOf(value: unknown, path: readonly string[] = []): Generator<{ node: object; path: readonly string[] }> {
  if (typeof value !== 'object' || value === null) return;
  yield { node: value, path };
  for (const [key, child] of Object.entries(value)) yield* nodesOf(child, [...path, key]);
}
