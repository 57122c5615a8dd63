/** REST rows to what answers hold of them, column by column. */
export const email = (row) => ({ id: row.id, name: row.name, createdBy: { email: row.created_by.email } });
export const named = (row) => ({ id: row.id, name: row.name });
export const happened = (row) => ({ id: row.id, event: row.event, timestamp: row.timestamp });
export const typed = (row) => ({ id: row.id, name: row.name, pluginType: row.plugin_type });

export const plugin = (row) => ({
  id: row.id,
  pluginType: row.plugin_type,
  name: row.name,
  description: row.description,
  url: row.url,
  icon: row.icon,
  configSchema: row.config_schema,
  tag: row.tag,
  latestTag: row.latest_tag,
  isGlobal: row.is_global,
  organizationId: row.organization_id,
  organizationName: row.organization_name,
  capabilities: row.capabilities,
  metrics: row.metrics,
  publicJobs: row.public_jobs,
});

export const wideProject = (row) => ({
  id: row.id,
  uuid: row.uuid,
  apiToken: row.api_token,
  appUrls: row.app_urls,
  name: row.name,
  slackIncomingWebhook: row.slack_incoming_webhook,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  anonymizeIps: row.anonymize_ips,
  completedSnippetOnboarding: row.completed_snippet_onboarding,
  ingestedEvent: row.ingested_event,
  testAccountFilters: row.test_account_filters,
  testAccountFiltersDefaultChecked: row.test_account_filters_default_checked,
  pathCleaningFilters: row.path_cleaning_filters,
  isDemo: row.is_demo,
  timezone: row.timezone,
  dataAttributes: row.data_attributes,
  personDisplayNameProperties: row.person_display_name_properties,
  correlationConfig: row.correlation_config,
  autocaptureOptOut: row.autocapture_opt_out,
  autocaptureExceptionsOptIn: row.autocapture_exceptions_opt_in,
  autocaptureExceptionsErrorsToIgnore: row.autocapture_exceptions_errors_to_ignore,
  captureConsoleLogOptIn: row.capture_console_log_opt_in,
  capturePerformanceOptIn: row.capture_performance_opt_in,
  sessionRecordingOptIn: row.session_recording_opt_in,
  sessionRecordingSampleRate: row.session_recording_sample_rate,
  sessionRecordingMinimumDurationMilliseconds: row.session_recording_minimum_duration_milliseconds,
  sessionRecordingLinkedFlag: row.session_recording_linked_flag,
  sessionRecordingNetworkPayloadCaptureConfig: row.session_recording_network_payload_capture_config,
  sessionReplayConfig: row.session_replay_config,
  effectiveMembershipLevel: row.effective_membership_level,
  accessControl: row.access_control,
  hasGroupTypes: row.has_group_types,
  liveEventsColumns: row.live_events_columns,
  recordingDomains: row.recording_domains,
  personOnEventsQueryingEnabled: row.person_on_events_querying_enabled,
  groupsOnEventsQueryingEnabled: row.groups_on_events_querying_enabled,
  injectWebApps: row.inject_web_apps,
  hasCompletedOnboardingFor: row.has_completed_onboarding_for,
  surveysOptIn: row.surveys_opt_in,
});

export const wideDashboard = (row) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  pinned: row.pinned,
  createdAt: row.created_at,
  isShared: row.is_shared,
  deleted: row.deleted,
  creationMode: row.creation_mode,
  tags: row.tags,
  createdBy: {
    id: row.created_by.id,
    uuid: row.created_by.uuid,
    distinctId: row.created_by.distinct_id,
    firstName: row.created_by.first_name,
    lastName: row.created_by.last_name,
    email: row.created_by.email,
  },
});

export const wideEvent = (row) => ({
  id: row.id,
  distinctId: row.distinct_id,
  properties: row.properties,
  event: row.event,
  timestamp: row.timestamp,
  elementsChain: row.elements_chain,
});

export const widePlugin = (row) => ({
  id: row.id,
  pluginType: row.plugin_type,
  name: row.name,
  description: row.description,
  url: row.url,
  icon: row.icon,
  configSchema: row.config_schema,
  tag: row.tag,
  latestTag: row.latest_tag,
  isGlobal: row.is_global,
});
