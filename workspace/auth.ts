import type { Call, User } from './call.ts';
import { integerIn, textIn } from './database.ts';
import { authenticationFailed, notAuthenticated, notFound, permissionDenied } from './errors.ts';
import { parseObject } from './json.ts';
import type { Stored } from './records.ts';
import type { Store } from './store.ts';

/** The personal API key in an Authorization header; throws if there is none. */
export function keyOf(authorization: string | undefined): string {
  const key = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
  if (key === undefined) throw notAuthenticated();
  return key;
}

/** Makes the function that tells whose key it is, and throws for unknown keys. */
export function createAuthenticator(store: Store): (key: string) => User {
  const statement = store.database.prepare(`
    SELECT users.id, level, profile, organization_id, name FROM users JOIN organizations ON organizations.id = organization_id
    WHERE key = ?`);
  return (key) => {
    const row = statement.get(key);
    if (row === undefined) throw authenticationFailed();
    return {
      id: integerIn(row, 'id'),
      organization: { id: textIn(row, 'organization_id'), name: textIn(row, 'name') },
      level: integerIn(row, 'level'),
      profile: parseObject(textIn(row, 'profile')),
    };
  };
}

/** True if the user is an administrator of the organization, or its owner. */
export function isAdministrator({ level }: User): boolean {
  return level >= 8;
}

/** The organization that the path names, by UUID or as `@current`: the user's own, or the call is refused. */
export function organizationOf({ store, user, params }: Call): User['organization'] {
  const id = String(params.parent_lookup_organization_id);
  if (id === '@current' || id.toLowerCase() === user.organization.id) return user.organization;
  const exists = store.database.prepare('SELECT 1 FROM organizations WHERE id = ?').get(id.toLowerCase());
  throw exists === undefined ? notFound() : permissionDenied("You don't have access to the organization.");
}

/** The project that `id` names, a number or `@current`: the first one of the user's organization. */
export function findProject({ store, user }: Call, id: unknown): Stored {
  const owner = user.organization.id;
  const text = String(id);
  const project =
    text === '@current'
      ? store.projects.list(owner, 1)[0]
      : /^\d{1,15}$/.test(text) && store.projects.find(owner, Number(text));
  if (!project) throw notFound();
  return project;
}

/** The project that holds the dashboards or events of the path. */
export function projectOf(call: Call): Stored {
  return findProject(call, call.params.project_id);
}
