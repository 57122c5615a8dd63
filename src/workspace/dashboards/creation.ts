import { projectOf } from '../auth.ts';
import { type Answer, type Call, created, ok } from '../call.ts';
import { doesNotExist, invalid, required } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Stored } from '../records.ts';
import { type DashboardTemplate, templates, toTemplate } from './templates.ts';
import { type DashboardOrigin, newDashboard, toDetail } from './views.ts';

/** What a dashboard starts from; the fields of the request win over `fields`. */
interface Model {
  readonly mode: DashboardOrigin['creation_mode'];
  readonly fields: JsonObject;
  readonly tiles: readonly JsonObject[];
}

/** POST /api/projects/{project_id}/dashboards/ */
export function createDashboard(call: Call): Answer {
  const project = projectOf(call);
  return created(create(call, project, modelOf(call, project)));
}

/** POST /api/projects/{project_id}/dashboards/create_from_template_json/ */
export function createDashboardFromTemplate(call: Call): Answer {
  const { template } = call.body;
  if (!isObject(template)) throw required('template');
  return ok(create(call, projectOf(call), fromTemplate(toTemplate(template))));
}

function modelOf({ store, body }: Call, project: Stored): Model {
  const { use_template: name = '', use_dashboard: id = null } = body;
  if (typeof name === 'string' && name !== '') {
    const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (template === undefined) throw invalid('use_template', `Template "${name}" does not exist.`);
    return fromTemplate(template);
  }
  if (typeof id !== 'number') return { mode: 'default', fields: {}, tiles: [] };
  const copied = store.dashboards.find(project.id, id);
  if (copied?.deleted !== false) throw doesNotExist('use_dashboard', id);
  return { mode: 'duplicate', fields: copied.body, tiles: store.tiles.list(id).map((tile) => tile.body) };
}

function fromTemplate({ tiles, ...fields }: DashboardTemplate): Model {
  return { mode: 'template', fields, tiles };
}

function create({ store, user, body }: Call, project: Stored, { mode, fields, tiles }: Model): JsonObject {
  const origin = { created_at: new Date().toISOString(), created_by: user.profile, creation_mode: mode };
  const id = store.dashboards.insert(project.id, newDashboard(origin, { ...fields, ...body }));
  for (const tile of tiles) store.tiles.insert(id, tile);
  const dashboard = store.dashboards.find(project.id, id);
  if (dashboard === undefined) throw new Error('expected the dashboard that was inserted');
  return toDetail(store, dashboard);
}
