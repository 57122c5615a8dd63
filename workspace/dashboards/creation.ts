import { projectOf } from '../auth.ts';
import { type Answer, type Call, created, ok } from '../call.ts';
import { doesNotExist, invalid } from '../errors.ts';
import { isObject, type JsonObject, omit } from '../json.ts';
import type { Stored } from '../records.ts';
import { type DashboardTemplate, templates, toTemplate } from './templates.ts';
import { addTiles } from './tiles.ts';
import { type DashboardOrigin, newDashboard, toDetail } from './views.ts';

/** The source of a dashboard's fields and tiles, when it is made or later; the request's fields win over `fields`. */
export interface Model {
  readonly mode: DashboardOrigin['creation_mode'];
  readonly fields: JsonObject;
  readonly tiles: readonly JsonObject[];
}

/** POST /api/projects/{project_id}/dashboards/ */
export function createDashboard(call: Call): Answer {
  const project = projectOf(call);
  return created(create(call, project, modelOf(call, project.id)));
}

/**
 * POST /api/projects/{project_id}/dashboards/create_from_template_json/. Without `template`, which the known deployment
 * reads, the dashboard request fields that the contract shows make the dashboard as createDashboard does.
 */
export function createDashboardFromTemplate(call: Call): Answer {
  const project = projectOf(call);
  const { template } = call.body;
  const model = isObject(template) ? fromTemplate(toTemplate(template)) : modelOf(call, project.id);
  return ok(create(call, project, model));
}

/** The template or the dashboard that the request names, if it names one. */
export function modelOf({ store, body }: Pick<Call, 'store' | 'body'>, projectId: number): Model {
  const { use_template: name = '', use_dashboard: id = null } = body;
  if (typeof name === 'string' && name !== '') {
    const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (template === undefined) throw invalid('use_template', `Template "${name}" does not exist.`);
    return fromTemplate(template);
  }
  if (typeof id !== 'number') return { mode: 'default', fields: {}, tiles: [] };
  const copied = store.dashboards.find(projectId, id);
  if (copied?.deleted !== false) throw doesNotExist('use_dashboard', id);
  return {
    mode: 'duplicate',
    // A copy says what it was made from itself.
    fields: omit(copied.body, ['use_template', 'use_dashboard', 'delete_insights']),
    tiles: store.tiles.list(id).map((tile) => tile.body),
  };
}

function fromTemplate({ tiles, ...fields }: DashboardTemplate): Model {
  return { mode: 'template', fields, tiles };
}

function create({ store, user, body }: Call, project: Stored, { mode, fields, tiles }: Model): JsonObject {
  const origin = { created_at: new Date().toISOString(), created_by: user.profile, creation_mode: mode };
  const id = store.dashboards.insert(project.id, newDashboard(origin, { ...fields, ...body }));
  addTiles(store, id, tiles);
  const dashboard = store.dashboards.find(project.id, id);
  if (dashboard === undefined) throw new Error('expected the dashboard that was inserted');
  return toDetail({ store, user }, dashboard);
}
