/** A plugin that can be installed. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly icon: string;
  readonly type: 'data_in' | 'data_out';
  readonly maintainer: 'official' | 'community';
  readonly latest_tag: string;
}

/** The plugins of the repository. Their addresses are made up. */
export const catalog: readonly CatalogEntry[] = [
  entry('GeoIP', 'Adds the place of an IP address to events.', 'geoip', 'data_in', '1.4.2'),
  entry('User Agent', 'Tells browser and device from the user agent.', 'user-agent', 'data_in', '1.2.0'),
  entry('Property Filter', 'Drops properties that must not be stored.', 'property-filter', 'data_in', '0.9.1'),
  entry('Timestamp Parser', 'Adds year, month, day and hour to events.', 'timestamp-parser', 'data_in', '1.0.3'),
  entry('S3 Export', 'Writes events to object storage.', 's3-export', 'data_out', '2.3.0'),
  entry('BigQuery Export', 'Streams events into a BigQuery table.', 'bigquery-export', 'data_out', '2.1.1'),
  entry('Webhook Relay', 'Posts chosen events to an address.', 'webhook-relay', 'data_out', '1.1.0'),
  entry(
    'First Time Tracker',
    'Marks the first event of its kind of a person.',
    'first-time-tracker',
    'data_in',
    '1.0.0',
  ),
];

function entry(name: string, description: string, path: string, type: CatalogEntry['type'], tag: string): CatalogEntry {
  const url = `https://plugins.example.com/${path}`;
  return { name, description, url, icon: `${url}/logo.png`, type, maintainer: 'official', latest_tag: tag };
}

/** The entry that is installed from `url`. */
export function catalogEntryAt(url: unknown): CatalogEntry | undefined {
  return catalog.find((one) => one.url === url);
}
