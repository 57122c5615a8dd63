import { expect, test } from 'vitest';
import { type Authentication, Authenticator } from '../../src/auth/authenticator.ts';
import { KeySet } from '../../src/auth/key-set.ts';
import { type Changeable, changeable } from '../../src/follow.ts';
import type { Tenants } from '../../src/rest/tenants.ts';
import { tenantsOf } from '../support/tenants.ts';
import { audience, createSigningKey, issuer, signToken } from '../support/tokens.ts';

const key = createSigningKey('1');
const roles = { viewer: {}, editor: {}, 'two words': {}, constructor: {} };
const own = tenantsOf({ acme: { key: 'phx_acme', roles } });
const many = Array.from({ length: 1300 }, (_value, index) => String(index % 10));

interface Bench {
  readonly authenticator: Authenticator;
  readonly tenants: Changeable<Tenants>;
  readonly logged: readonly string[];
}

/** An authenticator for tenants with roles. */
async function start(rolesClaim = 'roles'): Promise<Bench> {
  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
  const { jwk } = await key;
  const fetch = () => Promise.resolve({ keys: [jwk] });
  const keySet = new KeySet({ from: 'test', fetch, log });
  await keySet.renew();
  const rules = { issuer, audience, tenantClaim: 'tenant', rolesClaim };
  const tenants = changeable(own);
  const authenticator = new Authenticator({ rules, keySet, tenants: tenants.current, log });
  return { authenticator, tenants, logged };
}

/** The roles that count, or none if the token is refused. */
function rolesOf(answer: Authentication): string {
  return answer.kind === 'accepted' ? [...(answer.caller.tenant?.roles?.keys() ?? [])].join() : 'none';
}

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['words of a text', { roles: 'viewer editor' }, 'viewer,editor'],
  ['a text with further blanks', { roles: '  editor  other ' }, 'editor'],
  ['texts of a list', { roles: ['two words', 'editor', 'editor'] }, 'editor,two words'],
  ['what every object has', { roles: ['constructor', '__proto__', 'toString'] }, 'constructor'],
  ['other cases', { roles: 'Viewer EDITOR' }, 'none'],
  ['no claim', {}, 'none'],
  ['an empty text', { roles: '' }, 'none'],
  ['an empty list', { roles: [] }, 'none'],
  ['null', { roles: null }, 'none'],
  ['a number', { roles: 1 }, 'none'],
  ['an object', { roles: { viewer: true } }, 'none'],
  ['lists in a list', { roles: [['viewer']] }, 'none'],
  ['a list of other values', { roles: [1, null, {}, true, 'viewer'] }, 'viewer'],
  ['control characters', { roles: 'viewer\neditor' }, 'none'],
  ['words with commas', { roles: 'viewer,editor' }, 'none'],
  ['very many', { roles: [...many, 'viewer'] }, 'viewer'],
])('of a token are %s', async (_name, claims, expected) => {
  const bench = await start();
  const token = await signToken(await key, 'acme', { claims });
  const answer = await bench.authenticator.authenticate(`Bearer ${token}`);
  expect(rolesOf(answer)).toBe(expected);
  if (expected !== 'none') return;
  expect(answer).toEqual({ kind: 'no role' });
  expect(bench.logged.at(-1)).toBe('info: a token names no role that the entry of its tenant has');
  expect(bench.authenticator.counts.get('no role')).toBe(1);
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['realm_access.roles', { realm_access: { roles: ['viewer'] } }, 'accepted'],
  ['https://example.com/roles', { 'https://example.com/roles': ['viewer'] }, 'accepted'],
  ['a.b', { 'a.b': 'other', a: { b: 'viewer' } }, 'no role'],
  ['realm_access.roles', { realm_access: ['viewer'] }, 'no role'],
  ['realm_access.roles', { realm_access: 'viewer' }, 'no role'],
  ['realm_access.roles', { realm_access: null }, 'no role'],
  ['realm_access.constructor.name', { realm_access: {} }, 'no role'],
  ['__proto__.viewer', {}, 'no role'],
  ['tenant.length', {}, 'no role'],
])('of a token are at %s in %j: %s', async (rolesClaim, claims, kind) => {
  const bench = await start(rolesClaim);
  const token = await signToken(await key, 'acme', { claims });
  expect((await bench.authenticator.authenticate(`Bearer ${token}`)).kind).toBe(kind);
});

test('of a token are looked up again when the entries change', async () => {
  const bench = await start();
  const token = await signToken(await key, 'acme', { claims: { roles: 'viewer auditor' } });
  expect(rolesOf(await bench.authenticator.authenticate(`Bearer ${token}`))).toBe('viewer');
  bench.tenants.change(tenantsOf({ acme: { key: 'phx_acme', roles: { auditor: {} } } }));
  expect(rolesOf(await bench.authenticator.authenticate(`Bearer ${token}`))).toBe('auditor');
  bench.tenants.change(tenantsOf({ acme: { key: 'phx_acme', roles: { editor: {} } } }));
  expect(await bench.authenticator.authenticate(`Bearer ${token}`)).toEqual({ kind: 'no role' });
  bench.tenants.change(tenantsOf({ acme: { key: 'phx_acme' } }));
  expect(rolesOf(await bench.authenticator.authenticate(`Bearer ${token}`))).toBe('');
});
