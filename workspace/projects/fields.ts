import type { JsonObject } from '../json.ts';

/** The fields that requests can set, as a new project has them. */
const projectSettings: JsonObject = {
  app_urls: [],
  name: 'Default project',
  slack_incoming_webhook: null,
  anonymize_ips: false,
  completed_snippet_onboarding: false,
  test_account_filters: [],
  test_account_filters_default_checked: null,
  path_cleaning_filters: [],
  is_demo: false,
  timezone: 'UTC',
  data_attributes: ['data-attr'],
  person_display_name_properties: null,
  correlation_config: {},
  autocapture_opt_out: null,
  autocapture_exceptions_opt_in: null,
  autocapture_exceptions_errors_to_ignore: null,
  capture_console_log_opt_in: null,
  capture_performance_opt_in: null,
  session_recording_opt_in: false,
  session_recording_sample_rate: null,
  session_recording_minimum_duration_milliseconds: null,
  session_recording_linked_flag: null,
  session_recording_network_payload_capture_config: null,
  session_replay_config: null,
  access_control: false,
  week_start_day: null,
  primary_dashboard: null,
  live_events_columns: null,
  recording_domains: null,
  inject_web_apps: null,
  extra_settings: null,
  has_completed_onboarding_for: null,
  surveys_opt_in: null,
};

/** The names of the fields that requests can set. */
export const projectRequestFields: readonly string[] = Object.keys(projectSettings);

/** The fields of the list view. */
export const projectListFields: readonly string[] = [
  'id',
  'uuid',
  'organization',
  'api_token',
  'name',
  'completed_snippet_onboarding',
  'has_completed_onboarding_for',
  'ingested_event',
  'is_demo',
  'timezone',
  'access_control',
];

/** The identity of a project, beside its id. */
export interface ProjectIdentity {
  readonly uuid: string;
  readonly organization: string;
  readonly api_token: string;
  /** Also when it was last changed. */
  readonly created_at: string;
}

/** Every field of a new project but its id, `settings` as requested. */
export function newProject(identity: ProjectIdentity, settings: JsonObject): JsonObject {
  return {
    ...identity,
    updated_at: identity.created_at,
    ingested_event: false,
    effective_membership_level: 15,
    has_group_types: false,
    person_on_events_querying_enabled: true,
    groups_on_events_querying_enabled: false,
    ...projectSettings,
    ...settings,
  };
}
