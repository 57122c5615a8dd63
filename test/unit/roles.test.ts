import { describe, expect, test } from 'vitest';
import { type Caller, runningCaller } from '../../src/rest/caller.ts';
import { runningOperation, type Tenant, withRoles } from '../../src/rest/tenants.ts';
import { type Entry, tenantsOf } from '../support/tenants.ts';

const organization = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b77';

function tenantOf(entry: Omit<Entry, 'key'>): Tenant {
  const tenant = tenantsOf({ acme: { key: 'k', ...entry } }).get('acme');
  if (tenant === undefined) throw new Error('no entry');
  return tenant;
}

/** The projects of a tenant, and those of each of its mutations. */
function reachOf(tenant: Tenant | undefined): unknown {
  if (tenant === undefined) return undefined;
  const { reach, mutations } = tenant;
  const ofMutations = [...mutations].map(([name, one]): [string, unknown] => [name, one && [...one.projects]]);
  return { projects: reach && [...reach.projects], mutations: Object.fromEntries<unknown>(ofMutations) };
}

const acme = tenantOf({
  projects: ['1', '2', '3'],
  organizations: [organization],
  mutations: ['createDashboard', 'updateDashboard'],
  roles: {
    viewer: {},
    writer: { projects: ['3'], mutations: ['createDashboard'] },
    editor: { projects: ['2', '3'], mutations: true },
    agent: { projects: ['1'], documents: ['Overview', 'Events'] },
    constructor: { projects: [], documents: [] },
  },
});

describe('The part of a tenant', () => {
  test('reaches the union of its roles, and each mutation that of those that name it', () => {
    expect(reachOf(withRoles(acme, ['viewer']))).toEqual({ projects: ['1', '2', '3'], mutations: {} });
    expect(reachOf(withRoles(acme, ['writer', 'agent']))).toEqual({
      projects: ['3', '1'],
      mutations: { createDashboard: ['3'] },
    });
    expect(reachOf(withRoles(acme, ['editor', 'viewer', 'writer']))).toEqual({
      projects: ['1', '2', '3'],
      mutations: { createDashboard: ['3', '2'], updateDashboard: ['2', '3'] },
    });
    expect(withRoles(acme, ['viewer'])?.reach?.organizations).toEqual(new Set([organization]));
    expect(withRoles(acme, ['writer'])?.reach?.organizations).toEqual(new Set());
  });

  test('reaches all that the key sees if one of its roles does, but not with the mutations of the others', () => {
    const wide = tenantOf({
      mutations: true,
      roles: { viewer: {}, editor: { projects: ['1'], mutations: ['updateDashboard'] } },
    });
    expect(reachOf(withRoles(wide, ['editor', 'viewer']))).toEqual({
      projects: undefined,
      mutations: { updateDashboard: ['1'] },
    });
  });

  test('is none without a role that the entry has, whatever every object has', () => {
    for (const roles of [[], [''], ['Viewer'], ['viewer '], ['__proto__'], ['toString'], ['hasOwnProperty']])
      expect(withRoles(acme, roles)).toBeUndefined();
    expect([...(withRoles(acme, ['constructor', 'toString'])?.roles?.keys() ?? [])]).toEqual(['constructor']);
    const plain = tenantOf({});
    expect(withRoles(plain, ['anything'])).toBe(plain);
  });

  test('is made once, whatever the order of the roles, and has a hash of its own', () => {
    const both = withRoles(acme, ['viewer', 'agent']);
    expect(withRoles(acme, ['agent', 'other', 'viewer', 'agent'])).toBe(both);
    const hashes = [['viewer'], ['agent'], ['writer'], ['viewer', 'agent'], ['viewer', 'writer']].map(
      (roles) => withRoles(acme, roles)?.entryHash,
    );
    expect(new Set([...hashes, acme.entryHash]).size).toBe(6);
  });
});

describe('An operation is run with the roles that allow it', () => {
  const both = withRoles(acme, ['viewer', 'agent']);
  const agent = withRoles(acme, ['agent']);

  test('all of them if all allow it', () => {
    expect(both && runningOperation(both, 'Overview')).toBe(both);
  });

  test('and with no other: it is shared with those who have just these', () => {
    const part = both && runningOperation(both, 'Other');
    expect([...(part?.roles?.keys() ?? [])]).toEqual(['viewer']);
    expect(part?.entryHash).toBe(withRoles(acme, ['viewer'])?.entryHash);
    expect(both && runningOperation(both, undefined)?.entryHash).toBe(part?.entryHash);
  });

  test('and by none if none does', () => {
    expect(agent && runningOperation(agent, 'Other')).toBeUndefined();
    expect(agent && runningOperation(agent, 'overview')).toBeUndefined();
    expect(agent && runningOperation(agent, undefined)).toBeUndefined();
    const never = withRoles(acme, ['constructor']);
    expect(never && runningOperation(never, 'Overview')).toBeUndefined();
  });
});

test('the hash of a part changes with its own roles alone', () => {
  const entry = { projects: ['1', '2'], roles: { viewer: { projects: ['1'] }, editor: { projects: ['1', '2'] } } };
  const before = tenantOf(entry);
  const after = tenantOf({ ...entry, roles: { ...entry.roles, editor: { projects: ['2'] } } });
  expect(withRoles(after, ['viewer'])?.entryHash).toBe(withRoles(before, ['viewer'])?.entryHash);
  expect(withRoles(after, ['editor'])?.entryHash).not.toBe(withRoles(before, ['editor'])?.entryHash);
  expect(after.entryHash).not.toBe(before.entryHash);
});

test('the caller of an operation is the same object for the same roles, so that its headers and its key are made once', () => {
  const tenant = withRoles(acme, ['viewer', 'agent']);
  if (tenant === undefined) throw new Error('expected a tenant');
  const caller: Caller = { key: 'k', sharingKey: 'hash of k', queueKey: 'acme', tenant, subject: 'ada' };
  expect(runningCaller(caller, 'Overview')).toBe(caller);
  const viewer = runningCaller(caller, undefined);
  expect(viewer).toEqual({ ...caller, tenant: withRoles(acme, ['viewer']) });
  expect(runningCaller(caller, 'Unlisted')).toBe(viewer);
});
