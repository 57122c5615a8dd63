import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Authentication, Authenticator } from '../../src/auth/authenticator.ts';
import { fetchKeySet, KeySet } from '../../src/auth/key-set.ts';
import { type Changeable, changeable } from '../../src/follow.ts';
import type { Log } from '../../src/log.ts';
import type { Caller } from '../../src/rest/caller.ts';
import type { Tenant, Tenants } from '../../src/rest/tenants.ts';
import { isObject } from '../../src/rest/values.ts';
import {
  type Algorithm,
  answerJson,
  audience,
  createSigningKey,
  issuer,
  type SigningKey,
  signToken,
  startProvider,
  type TokenParts,
} from '../support/tokens.ts';

const rules = { issuer, audience, tenantClaim: 'tenant' };
const acme: Tenant = {
  name: 'acme',
  key: 'phx_acme',
  keyHash: 'hash of the key',
  entryHash: 'hash of the entry',
  reach: undefined,
  mutations: new Map(),
  roles: undefined,
};
const invalid = { kind: 'invalid token' };

interface Bench {
  readonly authenticator: Authenticator;
  readonly tenants: Changeable<Tenants>;
  readonly keySet: KeySet;
  readonly logged: readonly string[];
  /** Why, of each of those lines. */
  readonly reasons: readonly unknown[];
  /** Milliseconds that have passed on both clocks beside the real ones. */
  later: number;
}

/** An authenticator over the provider's key set; it has fetched the set once. */
async function start(from: string, { wait = true, timeoutMs = 5000 } = {}): Promise<Bench> {
  const logged: string[] = [];
  const reasons: unknown[] = [];
  const bench = { later: 0, logged, reasons };
  const log: Log = (level, message, facts) => {
    logged.push(`${level}: ${message}`);
    reasons.push(isObject(facts) ? facts['reason'] : undefined);
  };
  const keySet = new KeySet({
    from,
    fetch: () => fetchKeySet({ from, route: () => ({}), timeoutMs }),
    log,
    now: () => performance.now() + bench.later,
  });
  const tenants = changeable<Tenants>(new Map([['acme', acme]]));
  const now = (): number => Date.now() + bench.later;
  const authenticator = new Authenticator({ rules, keySet, tenants: tenants.current, log, now });
  if (wait) await keySet.renew();
  return Object.assign(bench, { authenticator, tenants, keySet });
}

function ask({ authenticator }: Bench, token: string): Authentication | Promise<Authentication> {
  return authenticator.authenticate(`Bearer ${token}`);
}

/** Who asks, as the token says. Fails if it is refused. */
async function callerOf(bench: Bench, token: string): Promise<Caller> {
  const answer = await ask(bench, token);
  if (answer.kind !== 'accepted') throw new Error(answer.kind);
  return answer.caller;
}

test.each<Algorithm>(['RS256', 'PS256', 'ES256', 'EdDSA'])(
  'a token signed with %s tells the tenant and the user',
  async (alg) => {
    const key = await createSigningKey('1', alg);
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const { subject = '', ...caller } = await callerOf(bench, await signToken(key, 'acme'));
    expect(caller).toEqual({
      key: 'phx_acme',
      sharingKey: acme.keyHash,
      queueKey: 'acme',
      tenant: acme,
    });
    expect(subject).toMatch(/^[\w-]{43}$/);
  },
);

describe('Refused is', () => {
  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const wrongType = (claim: string): string => `its \`${claim}\` has the wrong type, or is empty`;
  const now = Math.floor(Date.now() / 1000);

  test.each<[string, TokenParts, string]>([
    ['another issuer', { claims: { iss: 'https://other.test/' } }, '`iss` is not JWT_ISSUER'],
    ['no issuer', { claims: { iss: undefined } }, 'it has no `iss`'],
    ['another audience', { claims: { aud: ['other'] } }, '`aud` does not name JWT_AUDIENCE'],
    ['no audience', { claims: { aud: undefined } }, 'it has no `aud`'],
    ['no expiry', { claims: { exp: undefined } }, 'it has no `exp`'],
    ['an expiry that is a text', { claims: { exp: '9999999999' } }, wrongType('exp')],
    ['an expiry beyond the tolerance', { claims: { exp: now - 31 } }, '`exp` has passed'],
    ['a token of later', { claims: { nbf: now + 60 } }, '`nbf` is in the future'],
    ['no user', { claims: { sub: undefined } }, 'it has no `sub`'],
    ['an empty user', { claims: { sub: '' } }, wrongType('sub')],
    ['a user that is a number', { claims: { sub: 1 } }, wrongType('sub')],
    ['no tenant', { claims: { tenant: undefined } }, 'it has no `tenant`'],
    ['a tenant that is a list', { claims: { tenant: ['acme'] } }, wrongType('tenant')],
    ['a tenant that is an object', { claims: { tenant: {} } }, wrongType('tenant')],
    [
      'a key that the provider does not have',
      { header: { kid: '2' } },
      'the provider has no key with its `kid` and `alg`',
    ],
  ])('%s, and the log says why', async (_name, parts, reason) => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme', parts);
    for (let time = 0; time < 2; time += 1) expect(await ask(bench, token)).toEqual(invalid);
    expect([bench.logged.at(-1), bench.reasons.filter((logged) => logged !== undefined)]).toEqual([
      'info: a token was refused',
      [reason],
    ]);
  });

  test('a token without a signature, or with one by a shared secret that is the public key', async () => {
    const key = await createSigningKey('1', 'RS256');
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme');
    const [, payload = '', signature = ''] = token.split('.');
    expect(await ask(bench, `${base64({ alg: 'none' })}.${payload}.`)).toEqual(invalid);
    expect(await ask(bench, `${base64({ alg: 'none', kid: '1' })}.${payload}.${signature}`)).toEqual(invalid);
    const { createHmac, createPublicKey } = await import('node:crypto');
    const pem = createPublicKey({ key: key.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const signed = `${base64({ alg: 'HS256', kid: '1' })}.${payload}`;
    const forged = createHmac('sha256', pem).update(signed).digest('base64url');
    expect(await ask(bench, `${signed}.${forged}`)).toEqual(invalid);
  });

  test('a key that the token brings itself', async () => {
    const [key, attacker] = await Promise.all([createSigningKey('1'), createSigningKey('1')]);
    await using provider = await startProvider(key);
    await using elsewhere = await startProvider(attacker);
    const bench = await start(provider.url);
    for (const header of [{ jwk: attacker.jwk }, { jku: elsewhere.url }, { x5u: elsewhere.url }]) {
      expect(await ask(bench, await signToken(attacker, 'acme', { header }))).toEqual(invalid);
    }
    expect([elsewhere.asked, provider.asked]).toEqual([0, 1]);
  });

  test('no token, two of them, one of another scheme, one that is malformed, and one that is too long', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const { authenticator } = await start(provider.url);
    const token = await signToken(key, 'acme');
    for (const none of [undefined, '']) {
      expect(authenticator.authenticate(none)).toEqual({ kind: 'no token' });
    }
    expect(authenticator.authenticate(`Bearer ${token}`, 2)).toEqual(invalid);
    const long = await signToken(key, 'acme', { claims: { filler: 'x'.repeat(6200) } });
    expect(long.length).toBeGreaterThan(8192);
    for (const value of [`Basic ${token}`, token, 'Bearer phx_key', `Bearer ${token}x`, `Bearer ${long}`]) {
      expect(await authenticator.authenticate(value)).toEqual(invalid);
    }
    const largest = await signToken(key, 'acme', { claims: { filler: 'x'.repeat(5800) } });
    expect(await authenticator.authenticate(`Bearer ${largest}`)).toMatchObject({ kind: 'accepted' });
    expect(Object.fromEntries(authenticator.counts)).toEqual({ 'no token': 2, 'invalid token': 6, accepted: 1 });
  });

  test('a tenant that has no entry, whatever every object has, and the log names it', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    for (const name of ['globex', '__proto__', 'constructor', 'ACME']) {
      const answer = await ask(bench, await signToken(key, name));
      expect(answer).toEqual({ kind: 'unknown tenant' });
      expect(bench.logged.at(-1)).toBe('info: a token names a tenant that UPSTREAM_KEYS does not have');
    }
  });
});

test('clocks may be apart by thirty seconds', async () => {
  const key = await createSigningKey('1');
  await using provider = await startProvider(key);
  const bench = await start(provider.url);
  const now = Math.floor(Date.now() / 1000);
  const token = await signToken(key, 'acme', { claims: { exp: now - 20, nbf: now + 20 } });
  expect(await ask(bench, token)).toMatchObject({ kind: 'accepted' });
});

test('without a kid the only key of its kind is taken; with two of them the token is refused', async () => {
  const [one, two] = await Promise.all([createSigningKey('1'), createSigningKey('2')]);
  const rsa = await createSigningKey('3', 'RS256');
  await using provider = await startProvider(one, rsa);
  const token = await signToken(one, 'acme', { header: { kid: undefined } });
  expect(await ask(await start(provider.url), token)).toMatchObject({ kind: 'accepted' });
  provider.serve(one, two);
  expect(await ask(await start(provider.url), token)).toEqual(invalid);
});

describe('A known token', () => {
  test('is answered at once, until it expires', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme');
    const first = await ask(bench, token);
    expect(ask(bench, token)).toBe(first);
    bench.later = 331_000;
    expect(ask(bench, token)).toBeInstanceOf(Promise);
  });

  test('is verified once, whatever changes but its key', async () => {
    const [key, other] = await Promise.all([createSigningKey('1'), createSigningKey('2')]);
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme');
    await ask(bench, token);
    bench.tenants.change(new Map([['acme', { ...acme, key: 'phx_new' }]]));
    expect(ask(bench, token)).toMatchObject({ caller: { key: 'phx_new' } });
    for (const [time, keys] of [
      [key, other],
      [other, key],
    ].entries()) {
      provider.serve(...keys);
      bench.later = 30_000 * (time + 1);
      await bench.keySet.renew();
      expect(bench.keySet.reloads.ok).toBe(time + 2);
      expect(ask(bench, token)).toMatchObject({ kind: 'accepted' });
    }
  });

  test('is of the entry that its tenant has now', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme');
    const before = await callerOf(bench, token);
    bench.tenants.change(new Map([['acme', { ...acme, key: 'phx_new' }]]));
    expect(await ask(bench, token)).toMatchObject({ caller: { key: 'phx_new' } });
    expect(before.key).toBe('phx_acme');
    bench.tenants.change(new Map());
    expect(await ask(bench, token)).toMatchObject({ kind: 'unknown tenant' });
  });

  test('goes when its key does', async () => {
    const [old, next] = await Promise.all([createSigningKey('1'), createSigningKey('2')]);
    await using provider = await startProvider(old);
    const bench = await start(provider.url);
    const token = await signToken(old, 'acme');
    expect(await ask(bench, token)).toMatchObject({ kind: 'accepted' });
    provider.serve(next);
    bench.later = 30_000;
    expect(await ask(bench, await signToken(next, 'acme'))).toMatchObject({ kind: 'accepted' });
    expect(await ask(bench, token)).toEqual(invalid);
  });
});

describe('The provider', () => {
  test('is asked again for an unknown key, but not twice within thirty seconds', async () => {
    const [one, two, three] = await Promise.all(['1', '2', '3'].map((kid) => createSigningKey(kid)));
    if (one === undefined || two === undefined || three === undefined) throw new Error('expected three keys');
    await using provider = await startProvider(one);
    const bench = await start(provider.url);
    provider.serve(one, two);
    expect(await ask(bench, await signToken(two, 'acme'))).toEqual(invalid);
    expect(provider.asked).toBe(1);
    bench.later = 30_000;
    const tokens = await Promise.all(Array.from({ length: 20 }, () => signToken(two, 'acme')));
    const answers = await Promise.all(tokens.map(async (token) => ask(bench, token)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    expect(provider.asked).toBe(2);
    expect(await ask(bench, await signToken(three, 'acme'))).toEqual(invalid);
    expect(provider.asked).toBe(2);
  });

  test('that fails leaves the last keys in use; what they do not know cannot be told', async () => {
    const [known, unknown] = await Promise.all([createSigningKey('1'), createSigningKey('2')]);
    await using provider = await startProvider(known);
    const bench = await start(provider.url);
    provider.answerWith((response) => void response.writeHead(500).end());
    bench.later = 3_600_000;
    const unavailable = { kind: 'unavailable', retryAfter: 30 };
    const late = { claims: { exp: Math.floor(Date.now() / 1000) + 7200 } };
    expect(await ask(bench, await signToken(unknown, 'acme', late))).toEqual(unavailable);
    expect(await ask(bench, await signToken(known, 'acme', late))).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(2);
    bench.later += 10_000;
    expect(await ask(bench, await signToken(unknown, 'acme', late))).toMatchObject({ retryAfter: 20 });
    expect(provider.asked).toBe(2);
    expect(bench.logged.at(-1)).toBe(
      'error: the keys of the identity provider cannot be read; the previous keys stay in use',
    );
  });

  test('that has not answered yet is waited for; a token that cannot be valid is refused meanwhile', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const waiting: (() => void)[] = [];
    provider.answerWith((response) => waiting.push(() => answerJson(response, { keys: [key.jwk] })));
    const bench = await start(provider.url, { wait: false });
    const answer = ask(bench, await signToken(key, 'acme'));
    expect(await ask(bench, 'a.b.c')).toEqual(invalid);
    while (waiting.length === 0) await setTimeout(1);
    for (const go of waiting) go();
    expect(await answer).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(1);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['does not answer', () => undefined],
    [
      'begins an answer and does not end it',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys":['),
    ],
  ])('that %s has so long as it may take: tokens are not waited for any longer', async (_name, answer) => {
    const [known, unknown] = await Promise.all([createSigningKey('1'), createSigningKey('2')]);
    await using provider = await startProvider(known);
    provider.answerWith(answer);
    const bench = await start(provider.url, { timeoutMs: 50 });
    expect(await ask(bench, await signToken(known, 'acme'))).toMatchObject({ kind: 'unavailable' });
    provider.serve(known);
    bench.later = 30_000;
    expect(await ask(bench, await signToken(known, 'acme'))).toMatchObject({ kind: 'accepted' });
    provider.answerWith(answer);
    bench.later = 60_000;
    expect(await ask(bench, await signToken(unknown, 'acme'))).toMatchObject({ kind: 'unavailable' });
    expect(await ask(bench, await signToken(known, 'acme'))).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(3);
    const slow = 'no answer within 50 milliseconds';
    expect(bench.reasons).toEqual([slow, undefined, slow]);
  });

  test('that is down at the start is asked again after thirty seconds, when a token needs it', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    provider.answerWith((response) => void response.destroy());
    const bench = await start(provider.url);
    const token = await signToken(key, 'acme');
    provider.serve(key);
    bench.later = 15_000;
    expect(await ask(bench, token)).toMatchObject({ kind: 'unavailable' });
    expect(provider.asked).toBe(1);
    bench.later = 30_000;
    expect(await ask(bench, token)).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(2);
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof startProvider>>['answerWith']>[0]]>([
    ['redirects', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    [
      'answers another content type',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('{"keys":[]}'),
    ],
    ['answers more than 64 KiB', (response) => answerJson(response, { keys: [], filler: 'x'.repeat(65_536) })],
    ['answers no key set', (response) => answerJson(response, { keys: {} })],
    [
      'answers a private key',
      (response) => answerJson(response, { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' }] }),
    ],
    ['answers no JSON', (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<')],
    ['closes the connection', (response) => void response.destroy()],
  ])('that %s leaves the gateway without keys', async (_name, answer) => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    provider.answerWith(answer);
    const bench = await start(provider.url);
    expect(await ask(bench, await signToken(key, 'acme'))).toMatchObject({ kind: 'unavailable' });
    expect(bench.logged).toEqual(['error: the keys of the identity provider cannot be read; no token can be verified']);
  });

  test('whose set has a key that cannot be used is not trusted with it, and its other keys are good', async () => {
    const key = await createSigningKey('1');
    await using provider = await startProvider(key);
    const broken: SigningKey = { ...key, kid: '2' };
    provider.answerWith((response) =>
      answerJson(response, { keys: [key.jwk, { kty: 'EC', crv: 'P-256', x: '!', y: '!', kid: '2' }] }),
    );
    const bench = await start(provider.url);
    expect(await ask(bench, await signToken(broken, 'acme'))).toEqual(invalid);
    expect(await ask(bench, await signToken(key, 'acme'))).toMatchObject({ kind: 'accepted' });
  });
});
