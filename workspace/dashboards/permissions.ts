import { isAdministrator } from '../auth.ts';
import type { User } from '../call.ts';
import { permissionDenied } from '../errors.ts';
import { type JsonObject, objectOf } from '../json.ts';
import type { Stored } from '../records.ts';

/** The values of `restriction_level` and of both effective levels. */
export const levels = { everyone: 21, invited: 37 } as const;

/**
 * True if the user may change a dashboard: anyone in the project may, but if it is restricted only its creator and the
 * organization's administrators. This API can invite no other user.
 */
export function mayEdit(user: User, dashboard: Stored): boolean {
  return dashboard.body.restriction_level !== levels.invited || mayRestrict(user, dashboard);
}

/** Throws if the user may not make the change that `request` asks for. */
export function checkChange(user: User, dashboard: Stored, request: JsonObject): void {
  if (!mayEdit(user, dashboard)) throw permissionDenied("You don't have edit permissions for this dashboard.");
  const { restriction_level: level = dashboard.body.restriction_level } = request;
  if (level !== dashboard.body.restriction_level && !mayRestrict(user, dashboard))
    throw permissionDenied('Only the creator of the dashboard and administrators can change its restriction level.');
}

function mayRestrict(user: User, { body }: Stored): boolean {
  return isAdministrator(user) || objectOf(body.created_by).id === user.id;
}
