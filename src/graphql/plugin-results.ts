import { idText, isObject, type Row } from '../rest/values.ts';
import { type RowRecord, toRecord } from './records.ts';

/** The result of a plugin action whose shape the contract does not show: `plugin` where the answer is or holds one. */
export function toPluginResult(organizationId: string, body: unknown): { plugin: RowRecord | null; body: unknown } {
  const row = pluginIn(body);
  const plugin =
    row === undefined ? null : toRecord({ kind: 'Plugin', scope: organizationId }, { row, view: 'detail' });
  return { plugin, body };
}

/** The plugin that a body is, or has as its `plugin` member. */
function pluginIn(body: unknown): Row | undefined {
  if (!isObject(body)) return undefined;
  const inner = body['plugin'];
  if (isObject(inner) && isPlugin(inner)) return inner;
  return isPlugin(body) ? body : undefined;
}

/** A map of file names to source texts has neither. */
function isPlugin(body: Row): boolean {
  return idText(body['id']) !== undefined && ('plugin_type' in body || 'name' in body);
}
