import type { JsonObject } from '../json.ts';
import { toEntry } from '../plugins/activity.ts';
import { catalogEntryAt } from '../plugins/catalog.ts';
import { newPlugin } from '../plugins/fields.ts';
import { publishedFiles, writeFiles } from '../plugins/files.ts';
import type { Store } from '../store.ts';
import { daysBeforeEnd } from './clock.ts';
import { bank, type SeedOrganization, travel } from './organizations.ts';

/** A plugin of the demonstration data. */
interface SeedPlugin {
  readonly organization: SeedOrganization;
  /** The fields that an installation would have requested, and the version that was the newest then. */
  readonly fields: JsonObject;
  /** The projects that have it enabled. */
  readonly projects: readonly number[];
  readonly files?: Readonly<Record<string, string>>;
}

const plugins: readonly SeedPlugin[] = [
  fromRepository(travel, 'geoip', '1.3.0', [1, 2, 3], ['processEvent']),
  fromRepository(travel, 'user-agent', '1.2.0', [1], ['processEvent']),
  fromRepository(travel, 's3-export', '2.2.4', [1], ['exportEvents']),
  fromRepository(travel, 'property-filter', '0.9.1', [], ['processEvent']),
  source(travel, 'Loyalty tier', 'Adds the loyalty tier of a traveller.', [1, 2], 'loyalty_tier', 'event.person?.tier'),
  source(travel, 'Currency in euro', 'Turns prices into euro.', [1], 'price_eur', 'event.properties.price'),
  custom(travel, 'Booking enrichment', 'Looks up the hotel of a booking.', 'booking-enrichment', [1, 4]),
  custom(travel, 'Partner relay', 'Sends bookings on to partners.', 'partner-relay', []),
  local(travel, 'Sandbox', 'Tried out on one machine.', [4]),
  fromRepository(bank, 'geoip', '1.4.2', [5], ['processEvent']),
  fromRepository(bank, 'bigquery-export', '2.0.0', [5, 6], ['exportEvents']),
  source(bank, 'Account masking', 'Hides account numbers.', [5, 6], 'account', "'****'"),
  custom(bank, 'Risk score', null, 'risk-score', [5]),
  local(bank, 'Audit trail', 'Writes events to a log.', []),
];

function fromRepository(
  organization: SeedOrganization,
  path: string,
  tag: string,
  projects: readonly number[],
  methods: readonly string[],
): SeedPlugin {
  const url = `https://plugins.example.com/${path}`;
  return { organization, projects, fields: { url, tag, latest_tag: tag, capabilities: { methods, jobs: [] } } };
}

function source(
  organization: SeedOrganization,
  name: string,
  description: string,
  projects: readonly number[],
  property: string,
  value: string,
): SeedPlugin {
  const code = `export function processEvent(event) {\n  event.properties.${property} = ${value};\n  return event;\n}\n`;
  const files = { 'index.ts': code, 'plugin.json': JSON.stringify({ name, config: [] }, null, 2) };
  const capabilities = { methods: ['processEvent'], jobs: [] };
  return { organization, projects, files, fields: { plugin_type: 'source', name, description, capabilities } };
}

function custom(
  organization: SeedOrganization,
  name: string,
  description: string | null,
  path: string,
  projects: readonly number[],
): SeedPlugin {
  const config = [{ key: 'token', name: 'Access token', type: 'string', secret: true }];
  const url = `https://code.example.com/${path}`;
  return {
    organization,
    projects,
    fields: { plugin_type: 'custom', name, description, url, tag: 'main', config_schema: config },
  };
}

function local(
  organization: SeedOrganization,
  name: string,
  description: string,
  projects: readonly number[],
): SeedPlugin {
  return { organization, projects, fields: { plugin_type: 'local', name, description, url: 'file:./plugins/local' } };
}

/** Stores every plugin with its files, the projects in which it is enabled, and that it was installed. */
export function seedPlugins(store: Store): void {
  const { database, plugins: records } = store;
  const insertConfig = database.prepare(
    'INSERT INTO plugin_configs (plugin_id, project_id, enabled, config) VALUES (?, ?, 1, ?)',
  );
  const insertEntry = database.prepare('INSERT INTO plugin_activity (organization_id, body) VALUES (?, ?)');
  for (const [index, { organization, fields, projects, files = {} }] of plugins.entries()) {
    const { id: owner, members } = organization;
    const latest = fields.latest_tag === undefined ? {} : { latest_tag: fields.latest_tag };
    const body: JsonObject = { ...newPlugin(organization, fields), ...latest };
    const id = records.insert(owner, body);
    const entry = catalogEntryAt(body.url);
    writeFiles(store, id, entry === undefined ? files : publishedFiles(entry, body.tag));
    for (const project of projects) insertConfig.run(id, project, '{}');
    const installed = { activity: 'installed', changes: null, at: daysBeforeEnd(90 - index * 5.3) } as const;
    const logged = toEntry(members[0].profile, { id, owner, deleted: false, body }, installed);
    insertEntry.run(owner, JSON.stringify(logged));
  }
}
