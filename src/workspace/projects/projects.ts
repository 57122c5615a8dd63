import { randomBytes, randomUUID } from 'node:crypto';
import { findProject } from '../auth.ts';
import { type Answer, type Call, created, noContent, ok } from '../call.ts';
import { doesNotExist, invalid } from '../errors.ts';
import { type JsonObject, pick } from '../json.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { newProject, projectListFields, projectRequestFields } from './fields.ts';

/** GET /api/projects/ */
export function listProjects(call: Call): Answer {
  return pageOf(call, call.store.projects, call.user.organization.id, (project) =>
    pick(toRow(project), projectListFields),
  );
}

/** POST /api/projects/ */
export function createProject({ store, user, body }: Call): Answer {
  const settings = pick(body, projectRequestFields);
  checkTimezone(settings.timezone);
  if (typeof settings.primary_dashboard === 'number')
    throw doesNotExist('primary_dashboard', settings.primary_dashboard);
  const organization = user.organization.id;
  const identity = {
    uuid: randomUUID(),
    organization,
    api_token: `phc_${randomBytes(32).toString('base64url')}`,
    created_at: new Date().toISOString(),
  };
  const project = newProject(identity, settings);
  return created({ id: store.projects.insert(organization, project), ...project });
}

/** GET /api/projects/{id}/ */
export function getProject(call: Call): Answer {
  return ok(toRow(findProject(call, call.params.id)));
}

/** PATCH /api/projects/{id}/ */
export function updateProject(call: Call): Answer {
  const { store } = call;
  const project = findProject(call, call.params.id);
  const settings = pick(call.body, projectRequestFields);
  checkTimezone(settings.timezone);
  const { primary_dashboard: dashboard } = settings;
  if (typeof dashboard === 'number' && store.dashboards.find(project.id, dashboard)?.deleted !== false) {
    throw doesNotExist('primary_dashboard', dashboard);
  }
  const body = { ...project.body, ...settings, updated_at: new Date().toISOString() };
  store.projects.update(project.id, body);
  return ok(toRow({ ...project, body }));
}

/** DELETE /api/projects/{id}/, with everything that is in the project. */
export function deleteProject(call: Call): Answer {
  call.store.projects.remove(findProject(call, call.params.id).id);
  return noContent;
}

function toRow({ id, body }: Stored): JsonObject {
  return { id, ...body };
}

function checkTimezone(timezone: unknown): void {
  if (typeof timezone === 'string' && !isTimezone(timezone)) {
    throw invalid('timezone', `"${timezone}" is not a valid choice.`, 'invalid_choice');
  }
}

/** Every IANA name is one, legacy aliases too; a bare offset is not. */
function isTimezone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
