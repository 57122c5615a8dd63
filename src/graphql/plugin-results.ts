import { UpstreamError } from '../rest/errors.ts';
import { idText, isList, isObject, type JsonObject, type Row } from '../rest/values.ts';
import type { PluginFile } from './generated/resolvers.ts';

// The OpenAPI document describes each answer of a plugin action as a plugin. Upstreams also answer other things, which
// are read here.

/** The row of a plugin: the answer itself, or its member `plugin`. Undefined if neither is a plugin. */
export function pluginIn(body: unknown): Row | undefined {
  if (!isObject(body)) return undefined;
  const inner = body['plugin'];
  if (isObject(inner) && isPlugin(inner)) return inner;
  return isPlugin(body) ? body : undefined;
}

/** The files of an answer that is a map of file name to text; null for any other answer. */
export function filesIn(body: unknown): PluginFile[] | null {
  if (!isObject(body) || isPlugin(body)) return null;
  const files: PluginFile[] = [];
  for (const [name, text] of Object.entries(body)) {
    if (typeof text !== 'string') return null;
    files.push({ name, text });
  }
  return files;
}

/** The entries of an answer that is an array, a page with `results`, or one entry; null for any other answer. */
export function entriesIn(body: unknown): JsonObject[] | null {
  const entries = itemsIn(body);
  return entries?.every(isObject) === true ? entries : null;
}

/** The items of an array or of `results`, or another object as the only item; null for any other answer. */
export function itemsIn(body: unknown): unknown[] | null {
  if (isList(body)) return body;
  if (!isObject(body)) return null;
  const { results } = body;
  return isList(results) ? results : [body];
}

/** The plugins of an answer that lists them by their ids, or as rows. */
export function pluginsIn(body: unknown): (string | Row)[] {
  const plugins = itemsIn(body)?.map((item) => (isObject(item) && isPlugin(item) ? item : idText(item)));
  const known = plugins?.filter((plugin) => plugin !== undefined);
  if (known === undefined || known.length !== plugins?.length) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return known;
}

/** True for a plugin. A map of file names to source texts has neither an id nor these columns. */
function isPlugin(body: Row): boolean {
  return idText(body['id']) !== undefined && ('plugin_type' in body || 'name' in body);
}
