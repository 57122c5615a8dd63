import { readdirSync, readFileSync } from 'node:fs';
import {
  buildASTSchema,
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  Kind,
  parse,
  validateSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';

const directory = new URL('../../schema/', import.meta.url);
const sdl = readdirSync(directory)
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => readFileSync(new URL(name, directory), 'utf8'))
  .join('\n');
const schema = buildASTSchema(parse(sdl));
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);

/** The columns of the REST API and, of these, the ones that requests take: written out, not read from the document. */
const columns = {
  Plugin: {
    all: 'id plugin_type name description url icon config_schema tag latest_tag is_global organization_id organization_name capabilities metrics public_jobs',
    requests: 'plugin_type name description icon config_schema tag is_global capabilities metrics public_jobs',
  },
  Dashboard: {
    all: 'id name description pinned created_at created_by is_shared deleted creation_mode use_template use_dashboard delete_insights filters tags tiles restriction_level effective_restriction_level effective_privilege_level',
    requests:
      'name description pinned deleted use_template use_dashboard delete_insights filters tags restriction_level',
  },
  User: { all: 'id uuid distinct_id first_name last_name email is_email_verified', requests: '' },
  Event: { all: 'id distinct_id properties event timestamp person elements elements_chain', requests: '' },
  Project: {
    all: 'id uuid organization api_token app_urls name slack_incoming_webhook created_at updated_at anonymize_ips completed_snippet_onboarding ingested_event test_account_filters test_account_filters_default_checked path_cleaning_filters is_demo timezone data_attributes person_display_name_properties correlation_config autocapture_opt_out autocapture_exceptions_opt_in autocapture_exceptions_errors_to_ignore capture_console_log_opt_in capture_performance_opt_in session_recording_opt_in session_recording_sample_rate session_recording_minimum_duration_milliseconds session_recording_linked_flag session_recording_network_payload_capture_config session_replay_config effective_membership_level access_control week_start_day has_group_types primary_dashboard live_events_columns recording_domains person_on_events_querying_enabled groups_on_events_querying_enabled inject_web_apps extra_settings has_completed_onboarding_for surveys_opt_in',
    requests:
      'app_urls name slack_incoming_webhook anonymize_ips completed_snippet_onboarding test_account_filters test_account_filters_default_checked path_cleaning_filters is_demo timezone data_attributes person_display_name_properties correlation_config autocapture_opt_out autocapture_exceptions_opt_in autocapture_exceptions_errors_to_ignore capture_console_log_opt_in capture_performance_opt_in session_recording_opt_in session_recording_sample_rate session_recording_minimum_duration_milliseconds session_recording_linked_flag session_recording_network_payload_capture_config session_replay_config access_control week_start_day primary_dashboard live_events_columns recording_domains inject_web_apps extra_settings has_completed_onboarding_for surveys_opt_in',
  },
};

/** The fields that no column answers: they follow from the record's key, or from what the relation itself reads. */
const beyondColumns: Record<string, string> = {
  Plugin: 'upstreamId source',
  Dashboard: 'upstreamId project',
  User: '',
  Event: 'upstreamId project',
  Project: 'upstreamId dashboards dashboard events event eventCsv eventValues eventValuesCsv eventsCsv eventRows',
};

/**
 * The inputs that carry the request fields of a resource, their fields that are no such column, and the columns that mean
 * nothing to the mutation.
 */
const writes = [
  ['CreateProjectInput', 'Project', 'extra', ''],
  ['UpdateProjectInput', 'Project', 'id extra', ''],
  ['CreateDashboardInput', 'Dashboard', 'projectId extra', 'deleted delete_insights'],
  ['UpdateDashboardInput', 'Dashboard', 'id projectId extra', 'use_template use_dashboard'],
  ['CreatePluginInput', 'Plugin', 'organizationId url extra', ''],
  ['UpdatePluginInput', 'Plugin', 'id organizationId extra', ''],
] as const;

/** Every operation of the REST API that a field may name; `deleteDashboard` answers 405 whatever it is sent. */
const operations = words(`
  listProjects createProject getProject updateProject deleteProject
  listDashboards createDashboard getDashboard updateDashboard moveDashboardTile createDashboardFromTemplate
  listEvents getEvent listEventValues
  listPlugins createPlugin getPlugin updatePlugin deletePlugin checkPluginForUpdates getPluginSource updatePluginSource
  upgradePlugin listPluginActivity listPluginExportsUnsubscribeConfigs listPluginRepository listUnusedPlugins
`);

test('the schema is valid', () => {
  expect(validateSchema(schema)).toEqual([]);
});

test('every directive, type, field, argument, input field and enum value is described', () => {
  const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  const undescribed = [...types.flatMap(partsOf), ...directives.map(({ name, description }) => part(name, description))]
    .filter(({ description }) => !description?.trim())
    .map(({ name }) => name);
  expect(undescribed).toEqual([]);
});

describe.each(Object.entries(columns))('%s', (name, { all, requests }) => {
  test('answers every column of the REST contract, and no other', () => {
    const fields = fieldsOf(name).filter((field) => !words(beyondColumns[name] ?? '').includes(field.name));
    expect(sorted(new Set(fields.map(columnOf)))).toEqual(sorted(words(all)));
  });

  test.each(writes.filter(([, resource]) => resource === name))(
    '%s takes every request field of the REST contract that means something to it, and no other',
    (input, _, beside, without) => {
      const fields = inputFieldsOf(input).filter((field) => !words(beside).includes(field.name));
      expect(sorted([...fields.map(columnOf), ...words(without)])).toEqual(sorted(words(requests)));
      for (const field of fields) expect(isNonNullType(field.type), `${input}.${field.name}`).toBe(false);
    },
  );
});

test('`@column` is given only if the snake_case of the name is not the column', () => {
  const fields = types.flatMap((type) => (isObjectType(type) || isInputObjectType(type) ? valuesOf(type) : []));
  const idle = fields.filter((field) => argumentOf(field, 'column', 'name') === snakeCase(field.name));
  expect(idle.filter((field) => argumentOf(field, 'rest', 'operation') === undefined).map(({ name }) => name)).toEqual([
    // A relation beside `organizationId`, which has the same column.
    'organization',
  ]);
});

test('the fields of an event filter are the query parameters of the events list', () => {
  const filters = words('after before distinct_id event person_id properties where');
  expect(sorted(inputFieldsOf('EventFilter').map(columnOf))).toEqual(filters);
});

test('every REST operation but the one that always answers 405 is reached, and no unknown one', () => {
  const named = types
    .flatMap((type) => (isObjectType(type) ? fieldsOf(type.name) : []))
    .flatMap((field) => argumentOf(field, 'rest', 'operation') ?? []);
  expect(sorted(new Set(named))).toEqual(sorted(operations));
});

test('every field is nullable but ids, what is at hand with its parent, and what a write answers in one', () => {
  const required = types
    .filter((type) => isObjectType(type) && !/(Edge|Connection|PageInfo)$/.test(type.name))
    .flatMap((type) => fieldsOf(type.name).map((field) => ({ name: `${type.name}.${field.name}`, type: field.type })))
    .filter(({ type, name }) => isNonNullType(type) && !/\.(id|upstreamId)$/.test(name));
  expect(required.map(({ name }) => name).toSorted()).toEqual([
    'CreateDashboardFromTemplatePayload.dashboard',
    'CreateDashboardPayload.dashboard',
    'CreatePluginPayload.plugin',
    'CreateProjectPayload.project',
    'EventRowsPage.hasNextPage',
    'EventRowsPage.rows',
    'EventValue.body',
    'EventValues.body',
    'EventsAdded.cursor',
    'EventsAdded.gap',
    'EventsAdded.nodes',
    'EventsCsvPage.csv',
    'EventsCsvPage.hasNextPage',
    'MoveDashboardTilePayload.dashboard',
    'PluginActivity.body',
    'PluginActivity.hasNextPage',
    'PluginActivityEntry.body',
    'PluginFile.name',
    'PluginFile.text',
    'PluginRepositoryEntry.body',
    'PluginSource.body',
    'Query.nodes',
    'RestoreDashboardPayload.dashboard',
    'Subscription.eventsAdded',
    'UpdateDashboardPayload.dashboard',
    'UpdatePluginPayload.plugin',
    'UpdateProjectPayload.project',
  ]);
});

test('arguments have no default if they page, and are non-null if they have one', () => {
  const args = types.flatMap((type) => (isObjectType(type) ? fieldsOf(type.name).flatMap((field) => field.args) : []));
  const paging = args.filter(({ name }) => ['first', 'after', 'last', 'before'].includes(name));
  expect(paging.length).toBeGreaterThan(0);
  for (const { type, default: value } of paging) expect([isNonNullType(type), value]).toEqual([false, undefined]);
  for (const { type, default: value } of args) expect(value === undefined || isNonNullType(type)).toBe(true);
});

test.each(['Project', 'Dashboard', 'Plugin'])('a connection of %s pages both ways and counts', (name) => {
  expect(signaturesOf(`${name}Connection`)).toEqual([
    `edges: [${name}Edge!]!`,
    `nodes: [${name}]!`,
    'pageInfo: PageInfo!',
    'totalCount: Int',
  ]);
  expect(signaturesOf(`${name}Edge`)).toEqual(['cursor: String!', `node: ${name}`]);
});

test('a connection of events goes forward only and does not count', () => {
  expect(signaturesOf('EventConnection')).toEqual(['edges: [EventEdge!]!', 'nodes: [Event]!', 'pageInfo: PageInfo!']);
});

test('the queries and relations are those of the contract', () => {
  const page = 'first: Int, after: String, last: Int, before: String';
  expect(signaturesOf('Query').toSorted()).toEqual([
    'node(id: ID!): Node',
    'nodes(ids: [ID!]!): [Node]!',
    'organization(id: ID!): Organization',
    'project(id: ID!): Project',
    `projects(${page}): ProjectConnection`,
  ]);
  expect(signaturesOf('Project')).toEqual(
    expect.arrayContaining([
      'organization: Organization',
      'primaryDashboard: Dashboard',
      `dashboards(${page}): DashboardConnection`,
      'dashboard(id: ID!): Dashboard',
      'events(first: Int, after: String, filter: EventFilter): EventConnection',
      'event(id: ID!): Event',
      'eventCsv(id: ID!): String',
      'eventValues(key: String, eventName: String): EventValues',
      'eventValuesCsv(key: String, eventName: String): String',
      'eventsCsv(first: Int, after: String, filter: EventFilter, select: [String!]): EventsCsvPage',
      'eventRows(select: [String!]!, first: Int, after: String, filter: EventFilter): EventRowsPage',
    ]),
  );
  expect(signaturesOf('Organization')).toEqual([
    'id: ID!',
    'upstreamId: ID!',
    'name: String',
    `plugins(${page}): PluginConnection`,
    'plugin(id: ID!): Plugin',
    'pluginActivity(after: String): PluginActivity',
    'pluginExportsUnsubscribeConfigs: [JSON!]',
    'pluginRepository: [PluginRepositoryEntry!]',
    'unusedPlugins: [Plugin!]',
  ]);
  expect(signaturesOf('Plugin')).toEqual(
    expect.arrayContaining(['organization: Organization', 'source: PluginSource']),
  );
});

test('the mutations are those of the contract, each from one input to one nullable payload', () => {
  const names = words(`
    createProject updateProject deleteProject
    createDashboard updateDashboard deleteDashboard restoreDashboard moveDashboardTile createDashboardFromTemplate
    createPlugin updatePlugin deletePlugin updatePluginSource upgradePlugin checkPluginForUpdates
  `);
  const signatures = names.map((name) => {
    const noun = name.charAt(0).toUpperCase() + name.slice(1);
    return `${name}(input: ${noun}Input!): ${noun}Payload`;
  });
  expect(sorted(signaturesOf('Mutation'))).toEqual(sorted(signatures));
});

type Described = { readonly name: string; readonly description: string | null | undefined };
type Annotated = {
  readonly name: string;
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
};

function part(name: string, description: string | null | undefined): Described {
  return { name, description };
}

/** A type and everything in it that GraphiQL shows a description of. */
function partsOf(type: GraphQLNamedType): Described[] {
  const inside = isEnumType(type) ? type.getValues() : valuesOf(type);
  const args = isObjectType(type) || isInterfaceType(type) ? fieldsOf(type.name) : [];
  return [
    part(type.name, type.description),
    ...inside.map(({ name, description }) => part(`${type.name}.${name}`, description)),
    ...args.flatMap((field) =>
      field.args.map(({ name, description }) => part(`${type.name}.${field.name}(${name})`, description)),
    ),
  ];
}

function valuesOf(type: GraphQLNamedType): (GraphQLField<unknown, unknown> | GraphQLInputField)[] {
  if (isInputObjectType(type)) return Object.values(type.getFields());
  return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
}

function fieldsOf(name: string): GraphQLField<unknown, unknown>[] {
  const type = schema.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${name} has no fields`);
  return Object.values(type.getFields());
}

function inputFieldsOf(name: string) {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input`);
  return Object.values(type.getFields());
}

function signaturesOf(name: string): string[] {
  return fieldsOf(name).map((field) => {
    const args = field.args.map((arg) => `${arg.name}: ${String(arg.type)}`).join(', ');
    return `${field.name}${args && `(${args})`}: ${String(field.type)}`;
  });
}

function columnOf(field: Annotated): string {
  return argumentOf(field, 'column', 'name') ?? snakeCase(field.name);
}

function argumentOf(field: Annotated, directive: string, argument: string): string | undefined {
  const node = field.astNode?.directives?.find(({ name }) => name.value === directive);
  const value = node?.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

function sorted(names: Iterable<string>): string[] {
  return [...names].toSorted();
}

/** V8 keeps names that are cut out of other text in two bytes a character, and `JSON.stringify` writes such keys slowly. */
test('the SDL holds no character beyond Latin-1', () => {
  expect(sdl.match(/[\u0100-\uffff]/g)).toBeNull();
});
