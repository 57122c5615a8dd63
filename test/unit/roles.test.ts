import { expect, test } from 'vitest';
import { type Caller, callerAllowing } from '../../src/rest/caller.ts';
import { type Tenant, withRoles } from '../../src/rest/tenants.ts';
import { tenantsOf } from '../support/tenants.ts';

const organization = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b77';

/** The part of an entry for users with these roles. */
function partFor(...names: readonly string[]): Tenant {
  const roles = { viewer: {}, local: { projects: ['1'] }, agent: { documents: ['Overview'] } };
  const entry = { key: 'k', projects: ['1'], organizations: [organization], roles };
  const acme = tenantsOf({ acme: entry }).get('acme');
  const part = acme && withRoles(acme, names);
  if (part === undefined) throw new Error('expected a part');
  return part;
}

test('the part of a tenant reaches the organizations that its roles reach', () => {
  expect(partFor('local', 'viewer').reach?.organizations).toEqual(new Set([organization]));
  expect(partFor('local').reach?.organizations).toEqual(new Set());
});

test('the part of a tenant is the same object, in whatever order and however often its roles are named', () => {
  expect(partFor('agent', 'other', 'viewer', 'agent')).toBe(partFor('viewer', 'agent'));
});

test('the caller of an operation is the same object for the same roles, so that its headers and its key are made once', () => {
  const tenant = partFor('viewer', 'agent');
  const caller: Caller = { key: 'k', sharingKey: 'hash of k', queueKey: 'acme', tenant, subject: 'ada' };
  expect(callerAllowing(caller, 'Overview')).toBe(caller);
  const viewer = callerAllowing(caller, undefined);
  expect(viewer).toEqual({ ...caller, tenant: partFor('viewer') });
  for (const name of ['Unlisted', 'overview']) expect(callerAllowing(caller, name)).toBe(viewer);
});
