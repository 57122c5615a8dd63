import { randomBytes, randomUUID } from 'node:crypto';
import { findProject, isAdministrator } from '../auth.ts';
import { type Answer, type Call, created, noContent, ok, type User } from '../call.ts';
import { doesNotExist, permissionDenied } from '../errors.ts';
import { type JsonObject, pick } from '../json.ts';
import { pageOf } from '../pages.ts';
import type { Stored } from '../records.ts';
import { checkSettings } from './checks.ts';
import { newProject, projectListFields, projectRequestFields } from './fields.ts';

/** GET /api/projects/ */
export function listProjects(call: Call): Answer {
  return pageOf(call, call.store.projects, call.user.organization.id, (project) =>
    pick(toRow(call.user, project), projectListFields),
  );
}

/** POST /api/projects/ */
export function createProject({ store, user, body }: Call): Answer {
  checkAdministrator(user);
  const settings = pick(body, projectRequestFields);
  checkSettings(settings);
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
  const id = store.projects.insert(organization, project);
  return created(toRow(user, { id, owner: organization, deleted: false, body: project }));
}

/** GET /api/projects/{id}/ */
export function getProject(call: Call): Answer {
  return ok(toRow(call.user, findProject(call, call.params.id)));
}

/** PATCH /api/projects/{id}/ */
export function updateProject(call: Call): Answer {
  const { store } = call;
  const project = findProject(call, call.params.id);
  const settings = pick(call.body, projectRequestFields);
  checkSettings(settings);
  const { primary_dashboard: dashboard } = settings;
  if (typeof dashboard === 'number' && store.dashboards.find(project.id, dashboard)?.deleted !== false) {
    throw doesNotExist('primary_dashboard', dashboard);
  }
  const body = { ...project.body, ...settings, updated_at: new Date().toISOString() };
  store.projects.update(project.id, body);
  return ok(toRow(call.user, { ...project, body }));
}

/** DELETE /api/projects/{id}/, with everything that is in the project. */
export function deleteProject(call: Call): Answer {
  checkAdministrator(call.user);
  call.store.projects.remove(findProject(call, call.params.id).id);
  return noContent;
}

function toRow(user: User, { id, body }: Stored): JsonObject {
  return { id, ...body, effective_membership_level: user.level };
}

/** Projects are made and deleted by administrators and owners only; members change them. */
function checkAdministrator(user: User): void {
  if (!isAdministrator(user)) throw permissionDenied('You must be an administrator of the organization.');
}
