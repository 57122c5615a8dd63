import type { RestClient } from './client.ts';
import { UpstreamError } from './errors.ts';
import { operations, views } from './generated/views.ts';
import type { Noun } from './nouns.ts';
import { type ListRef, pageTarget, RestPage, type TablePage, toCsvPage, toRowsPage, withoutHosts } from './pages.ts';
import { type Collection, collectionPath, type Key, rowPath, target } from './paths.ts';
import { overlapOf, type Position } from './positions.ts';
import { type RestOperation, rowOperations } from './rest-operations.ts';
import { isObject, type JsonObject, type Row } from './values.ts';

/** The reports on all plugins of an organization. */
export type PluginsReport = keyof typeof pluginsReports;

/** The actions on one plugin. */
export type PluginAction = keyof typeof pluginActions;

/**
 * The check for updates is a GET, but the upstream stores the result. So the gateway treats that GET as a write: it is
 * sent once, and no operation shares it.
 */
const pluginActions = {
  update_source: operations.updatePluginSource,
  upgrade: operations.upgradePlugin,
  check_for_updates: operations.checkPluginForUpdates,
} as const;

const pluginsReports = {
  activity: operations.listPluginActivity,
  exports_unsubscribe_configs: operations.listPluginExportsUnsubscribeConfigs,
  repository: operations.listPluginRepository,
  unused: operations.listUnusedPlugins,
} as const;

/** A query for the values of the property `key` in events that are named `event_name`. */
export interface ValuesQuery {
  readonly key: string | undefined;
  readonly event_name: string | undefined;
}

/** The REST API, as one operation uses it. Code above this layer knows only keys, lists and rows. */
export class RestApi {
  readonly #client: RestClient;

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** `GET …/{id}/`, the detail view. */
  async fetchRow(key: Key): Promise<Row> {
    const row = toRow(await this.#client.read(rowOperations[key.noun].get, rowPath(key)));
    // A server that is not the API may answer with any object. An object without any column of the noun is no row.
    if (views[key.noun].detail.some((column) => Object.hasOwn(row, column))) return row;
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  }

  /**
   * `GET …/?limit=&offset=`, the list view: `limit` new rows from a position. Rows that were answered before are read
   * again, or skipped if they do not fit into a page of `maximum` rows.
   */
  fetchPage(list: ListRef, at: Position, limit: number, maximum: number): Promise<RestPage> {
    if (at.isDeadEnd === true) return Promise.reject(new UpstreamError('UPSTREAM_INVALID_RESPONSE'));
    const overlap = overlapOf(at, limit, maximum);
    const skipped = (at.boundary?.ids.length ?? 0) - overlap;
    const asked = skipped > at.offset ? { ...at, offset: skipped } : at;
    const rows = limit + overlap;
    return this.#client
      .read(rowOperations[list.noun].list, pageTarget(list, asked, rows))
      .then((body) => new RestPage(body, list, asked, rows));
  }

  /** `GET …/events/?select=…`: rows as the query language returns them. */
  async fetchSelected(list: ListRef, at: Position, limit: number): Promise<TablePage<readonly unknown[]>> {
    const endpoint = rowOperations[list.noun].list;
    return toRowsPage(await this.#client.read(endpoint, pageTarget(list, at, limit)), at);
  }

  /** `GET …/events/?format=csv`. */
  async fetchCsv(list: ListRef, at: Position, limit: number): Promise<TablePage<string>> {
    const endpoint = rowOperations[list.noun].list;
    return toCsvPage(await this.#readCsv(endpoint, pageTarget(list, at, limit)), list, at);
  }

  /** `GET …/events/{id}/?format=csv`. */
  async fetchEventCsv(key: Key): Promise<string> {
    return this.#readCsv(operations.getEvent, target(rowPath(key), [['format', 'csv']]));
  }

  /** `GET …/events/values/`: an array, or `{results, refreshing}`. */
  async fetchEventValues(projectId: string, values: ValuesQuery): Promise<unknown> {
    return this.#client.read(operations.listEventValues, valuesTarget(projectId, values));
  }

  /** `GET …/events/values/?format=csv`. */
  async fetchEventValuesCsv(projectId: string, values: ValuesQuery): Promise<string> {
    return this.#readCsv(operations.listEventValues, valuesTarget(projectId, values, 'csv'));
  }

  /** `GET …/plugins/{id}/source/`. */
  async fetchPluginSource(key: Key): Promise<unknown> {
    return this.#client.read(operations.getPluginSource, `${rowPath(key)}source/`);
  }

  /** `GET …/plugins/<report>/`: one page. `query` is the URL query of the page; by default, it reads the first page. */
  async fetchPluginsReport(organizationId: string, report: PluginsReport, query = ''): Promise<unknown> {
    const path = `${collectionPath({ noun: 'Plugin', scope: organizationId })}${report}/${query}`;
    return withoutHosts(await this.#client.read(pluginsReports[report], path));
  }

  /** `POST` to a collection, or to an action below it. */
  async createRow(collection: Collection, body: JsonObject, action?: 'create_from_template_json'): Promise<Row> {
    const endpoint = action === undefined ? writing(collection.noun, 'create') : operations.createDashboardFromTemplate;
    return toRow(await this.#client.write(endpoint, below(collectionPath(collection), action), body));
  }

  /** `PATCH` of a row, or of an action below it. */
  async changeRow(key: Key, body: JsonObject, action?: 'move_tile'): Promise<Row> {
    const endpoint = action === undefined ? writing(key.noun, 'update') : operations.moveDashboardTile;
    return toRow(await this.#client.write(endpoint, below(rowPath(key), action), body));
  }

  /** An action below `…/plugins/{id}/`. A GET sends no body. Resolves to any JSON; null if the response is empty. */
  async actOnPlugin(key: Key, action: PluginAction, body: JsonObject): Promise<unknown> {
    const endpoint = pluginActions[action];
    const sent = endpoint.method === 'GET' ? undefined : body;
    return withoutHosts((await this.#client.write(endpoint, below(rowPath(key), action), sent)) ?? null);
  }

  /** `DELETE` of a row. Resolves to the JSON of the response; undefined if it has none. */
  async deleteRow(key: Key): Promise<unknown> {
    return this.#client.write(writing(key.noun, 'delete'), rowPath(key));
  }

  async #readCsv(endpoint: RestOperation, path: string): Promise<string> {
    return String(await this.#client.read(endpoint, path, 'csv'));
  }
}

/** Throws if the API has no such operation. */
function writing(noun: Noun, verb: 'create' | 'update' | 'delete'): RestOperation {
  const endpoint = rowOperations[noun][verb];
  if (endpoint === undefined) throw new TypeError(`expected a noun with an operation to ${verb}, but got ${noun}`);
  return endpoint;
}

function valuesTarget(projectId: string, { key, event_name: name }: ValuesQuery, format?: 'csv'): string {
  const path = `${collectionPath({ noun: 'Event', scope: projectId })}values/`;
  return target(path, [
    ['key', key],
    ['event_name', name],
    ['format', format],
  ]);
}

function below(path: string, action: string | undefined): string {
  return action === undefined ? path : `${path}${action}/`;
}

function toRow(body: unknown): Row {
  if (!isObject(body)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return body;
}
