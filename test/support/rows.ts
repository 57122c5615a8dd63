import type { JsonObject } from './replies.ts';

/** The columns that a sample row has instead of its usual ones, or beside them. */
type Changes = JsonObject;

const organizationId = '018f1c4e-0000-7000-8000-00000000000a';

function uuid(id: number): string {
  return `018f1c4e-0000-7000-8000-${id.toString(16).padStart(12, '0')}`;
}

/** A project as lists have it. */
export function listedProject(id: number, changes: Changes = {}): JsonObject {
  return {
    id,
    uuid: uuid(id),
    organization: organizationId,
    api_token: `phc_${id}`,
    name: `Project ${id}`,
    completed_snippet_onboarding: true,
    has_completed_onboarding_for: { product_analytics: true },
    ingested_event: true,
    is_demo: false,
    timezone: 'Europe/Berlin',
    access_control: false,
    ...changes,
  };
}

/** A project with every field. */
export function project(id: number, changes: Changes = {}): JsonObject {
  return {
    ...listedProject(id),
    app_urls: ['https://app.example.com'],
    slack_incoming_webhook: 'https://hooks.example.com/slack',
    created_at: '2024-04-30T08:00:00.123456Z',
    updated_at: '2024-05-01T08:00:00.654321Z',
    anonymize_ips: false,
    test_account_filters: [{ key: 'email', value: '@example.com', operator: 'not_icontains', type: 'person' }],
    test_account_filters_default_checked: true,
    path_cleaning_filters: [{ alias: 'item', regex: '/items/\\d+' }],
    data_attributes: ['data-attr'],
    person_display_name_properties: ['email', 'name'],
    correlation_config: { excluded_event_names: ['$pageleave'] },
    autocapture_opt_out: false,
    autocapture_exceptions_opt_in: true,
    autocapture_exceptions_errors_to_ignore: ['ResizeObserver'],
    capture_console_log_opt_in: true,
    capture_performance_opt_in: true,
    session_recording_opt_in: true,
    session_recording_sample_rate: '0.50',
    session_recording_minimum_duration_milliseconds: 2000,
    session_recording_linked_flag: { id: 7, key: 'replay' },
    session_recording_network_payload_capture_config: { recordBody: true },
    session_replay_config: { record_canvas: true },
    effective_membership_level: 8,
    week_start_day: 1,
    has_group_types: true,
    primary_dashboard: 1,
    live_events_columns: ['event', 'person'],
    recording_domains: ['https://app.example.com'],
    person_on_events_querying_enabled: true,
    groups_on_events_querying_enabled: false,
    inject_web_apps: false,
    extra_settings: { beta: true },
    surveys_opt_in: true,
    ...changes,
  };
}

/** A dashboard as lists have it. */
export function listedDashboard(id: number, changes: Changes = {}): JsonObject {
  return {
    id,
    name: `Dashboard ${id}`,
    description: 'Weekly numbers',
    pinned: true,
    created_at: '2024-05-01T10:00:00.123456Z',
    created_by: {
      id: 1,
      uuid: uuid(1),
      distinct_id: 'distinct-1',
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.com',
      is_email_verified: true,
    },
    is_shared: false,
    deleted: false,
    creation_mode: 'default',
    tags: ['growth', null],
    restriction_level: 21,
    effective_restriction_level: 21,
    effective_privilege_level: 37,
    ...changes,
  };
}

/** A dashboard with every field of the contract, also those that known services take and never return. */
export function dashboard(id: number, changes: Changes = {}): JsonObject {
  return {
    ...listedDashboard(id),
    use_template: 'Product analytics',
    use_dashboard: 3,
    delete_insights: false,
    filters: { date_from: '-7d' },
    tiles: [{ id: id * 10, layouts: {}, color: null, insight: { id: id * 100, name: 'Visitors' } }],
    ...changes,
  };
}

/** An event as services send it: the contract's strings are an object, an object and an array. Later ids are older. */
export function event(id: number, changes: Changes = {}): JsonObject {
  const milliseconds = Date.UTC(2024, 4, 1, 10) - id * 1001;
  return {
    id: uuid(id),
    distinct_id: `00${id}`,
    properties: { $browser: 'Firefox', $current_url: 'https://app.example.com/' },
    event: '$pageview',
    timestamp: new Date(milliseconds).toISOString().replace('Z', '000+00:00'),
    person: { distinct_ids: [`00${id}`], is_identified: true, properties: { email: 'ada@example.com' } },
    elements: [{ tag_name: 'button', text: 'Save', order: 0 }],
    elements_chain: 'button:text="Save"',
    ...changes,
  };
}

/** A plugin; lists have it with every field too. */
export function plugin(id: number, changes: Changes = {}): JsonObject {
  return {
    id,
    plugin_type: 'repository',
    name: `Plugin ${id}`,
    description: 'Adds a place to each event',
    url: `https://plugins.example.com/${id}`,
    icon: 'https://plugins.example.com/icon.png',
    config_schema: [{ key: 'token', type: 'string', required: true }],
    tag: 'v1.0.0',
    latest_tag: 'v1.1.0',
    is_global: false,
    organization_id: organizationId,
    organization_name: 'Acme',
    capabilities: { jobs: [], methods: ['processEvent'] },
    metrics: { lookups: 'sum' },
    public_jobs: {},
    ...changes,
  };
}
