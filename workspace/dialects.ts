import { arrayOf, isObject, type JsonObject, objectOf, omit } from './json.ts';

/**
 * Whose answers the workspace gives: those of the document, or of the known deployment in a year. In 2024 that kept back the
 * write-only columns of dashboards and had a further type of plugin; in 2026 it had more columns, a
 * further level, and an envelope around the values of events.
 */
export type Dialect = 'document' | '2024' | '2026';

/** Turns a row of the document into that of another dialect, for one of its views. */
type Translate = (row: JsonObject, view: View) => JsonObject;

type View = 'list' | 'detail';

type Noun = 'Project' | 'Dashboard' | 'Plugin';

const translations: Readonly<Record<Dialect, Partial<Record<Noun, Translate>>>> = {
  document: {},
  2024: { Dashboard: withoutWriteOnly, Plugin: withInline },
  2026: {
    Project: (row) => ({ ...row, secret_api_token: null, product_intents: [] }),
    Dashboard: (row, view) => withNewColumns(withNewLevel(withoutWriteOnly(row)), view),
    Plugin: withInline,
  },
};

/** The body of an operation's answer as a dialect has it. */
export function inDialect(dialect: Dialect, operation: string, body: unknown): unknown {
  if (dialect === '2026' && operation === 'listEventValues' && Array.isArray(body))
    return { results: body, refreshing: false };
  const noun = nounOf(operation);
  const translate = noun && translations[dialect][noun];
  if (translate === undefined || !isObject(body)) return body;
  if (Array.isArray(body.results))
    return { ...body, results: arrayOf(body.results).map((row) => translate(objectOf(row), 'list')) };
  if (isObject(body.plugin)) return { ...body, plugin: translate(body.plugin, 'detail') };
  return 'id' in body ? translate(body, 'detail') : body;
}

/** The noun of the rows that an operation answers. */
function nounOf(operation: string): Noun | undefined {
  if (/Source$|Activity$/.test(operation)) return undefined;
  const nouns: readonly Noun[] = ['Project', 'Dashboard', 'Plugin'];
  return nouns.find((noun) => operation.includes(noun));
}

function withoutWriteOnly(row: JsonObject): JsonObject {
  return omit(row, ['use_template', 'use_dashboard', 'delete_insights']);
}

/** Plugins that are built in. */
function withInline(row: JsonObject): JsonObject {
  return { ...row, plugin_type: row.plugin_type === 'source' ? 'inline' : row.plugin_type };
}

/** Dashboards that only their creator may edit. */
function withNewLevel(row: JsonObject): JsonObject {
  const level = row.restriction_level === 37 ? 41 : row.restriction_level;
  return { ...row, restriction_level: level, effective_restriction_level: level };
}

function withNewColumns(row: JsonObject, view: View): JsonObject {
  const creator = isObject(row.created_by) ? { ...row.created_by, role_at_organization: null } : row.created_by;
  const everywhere = { ...row, created_by: creator, user_access_level: 'editor', last_accessed_at: null };
  return view === 'list' ? everywhere : { ...everywhere, persisted_filters: {}, variables: [] };
}
