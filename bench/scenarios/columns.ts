/** The columns that several questions select, in camelCase, by kind of row. */
export const columns = {
  plugin:
    'id pluginType name description url icon configSchema tag latestTag isGlobal organizationId organizationName capabilities metrics publicJobs',
  /** The first forty-odd of a project, for the wide scenario: with what is below them 80 fields. */
  wideProject:
    'id uuid apiToken appUrls name slackIncomingWebhook createdAt updatedAt anonymizeIps completedSnippetOnboarding ingestedEvent testAccountFilters testAccountFiltersDefaultChecked pathCleaningFilters isDemo timezone dataAttributes personDisplayNameProperties correlationConfig autocaptureOptOut autocaptureExceptionsOptIn autocaptureExceptionsErrorsToIgnore captureConsoleLogOptIn capturePerformanceOptIn sessionRecordingOptIn sessionRecordingSampleRate sessionRecordingMinimumDurationMilliseconds sessionRecordingLinkedFlag sessionRecordingNetworkPayloadCaptureConfig sessionReplayConfig effectiveMembershipLevel accessControl hasGroupTypes liveEventsColumns recordingDomains personOnEventsQueryingEnabled groupsOnEventsQueryingEnabled injectWebApps hasCompletedOnboardingFor surveysOptIn',
  wideDashboard: 'id name description pinned createdAt isShared deleted creationMode tags',
  wideUser: 'id uuid distinctId firstName lastName email',
  wideEvent: 'id distinctId properties event timestamp elementsChain',
  widePlugin: 'id pluginType name description url icon configSchema tag latestTag isGlobal',
} as const;

/** The same names as a schema spells them: each name is replaced by what `spell` makes of it. */
export function spelt(names: string, spell: (name: string) => string): string {
  return names.split(' ').map(spell).join(' ');
}

/** A column under its REST name, shown in camelCase. */
export function underRestName(name: string): string {
  const restName = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return restName === name ? name : `${name}: ${restName}`;
}
