import { textIn } from '../database.ts';
import type { Store } from '../store.ts';
import type { CatalogEntry } from './catalog.ts';

/** Texts by the names of their files. */
export type Files = Readonly<Record<string, string>>;

/** The files of a plugin, in the order of their names. */
export function filesOf({ database }: Store, pluginId: number): Files {
  const rows = database
    .prepare('SELECT name, content FROM plugin_sources WHERE plugin_id = ? ORDER BY name')
    .all(pluginId);
  return Object.fromEntries(rows.map((row) => [textIn(row, 'name'), textIn(row, 'content')]));
}

/** Writes files of a plugin over those of the same names; null deletes one. */
export function writeFiles(
  { database }: Store,
  pluginId: number,
  files: Readonly<Record<string, string | null>>,
): void {
  const write = database.prepare('REPLACE INTO plugin_sources VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM plugin_sources WHERE plugin_id = ? AND name = ?');
  for (const [name, content] of Object.entries(files)) {
    if (content === null) remove.run(pluginId, name);
    else write.run(pluginId, name, content);
  }
}

/** The files of a plugin in the repository, in one of its versions. */
export function publishedFiles({ name, url, type }: CatalogEntry, version: unknown): Files {
  const hook = type === 'data_in' ? 'processEvent(event) {\n  return event;' : 'exportEvents(events) {';
  return {
    'index.js': `// ${name} ${String(version)}\nexport function ${hook}\n}\n`,
    'plugin.json': `${JSON.stringify({ name, url, main: 'index.js', version, config: [] }, null, 2)}\n`,
  };
}
