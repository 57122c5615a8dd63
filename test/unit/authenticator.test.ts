import { createHmac, createPublicKey } from 'node:crypto';
import type { ServerResponse } from 'node:http';
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
  type Provider,
  type SigningKey,
  signToken,
  startProvider,
  type TokenParts,
} from '../support/tokens.ts';
import { until } from '../support/until.ts';

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

/** An authenticator over the key set of a provider. */
interface Bench extends AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly tenants: Changeable<Tenants>;
  readonly keySet: KeySet;
  /** The provider's first key, which signs tokens unless a test says otherwise. */
  readonly key: SigningKey;
  readonly provider: Provider;
  readonly logged: readonly string[];
  /** The `reason` in each of these lines. */
  readonly reasons: readonly unknown[];
  /** Milliseconds that have passed on both clocks beside the real ones. */
  later: number;
}

interface BenchOptions {
  readonly alg?: Algorithm;
  /** The response of the provider in place of its key set. */
  readonly answer?: (response: ServerResponse) => void;
  /** False if the set is not fetched before a token needs it. */
  readonly wait?: boolean;
  readonly timeoutMs?: number;
}

/** Starts a provider with one key, and an authenticator that has fetched it. */
async function start({ alg, answer, wait = true, timeoutMs = 5000 }: BenchOptions = {}): Promise<Bench> {
  const key = await createSigningKey('1', alg);
  const provider = await startProvider(key);
  if (answer !== undefined) provider.answerWith(answer);
  const logged: string[] = [];
  const reasons: unknown[] = [];
  const bench = { later: 0, logged, reasons, key, provider };
  const log: Log = (level, message, facts) => {
    logged.push(`${level}: ${message}`);
    reasons.push(isObject(facts) ? facts['reason'] : undefined);
  };
  const keySet = new KeySet({
    from: provider.url,
    fetch: () => fetchKeySet(provider.url, () => ({}), timeoutMs),
    log,
    now: () => performance.now() + bench.later,
  });
  const tenants = changeable<Tenants>(new Map([['acme', acme]]));
  const now = (): number => Date.now() + bench.later;
  const authenticator = new Authenticator({ rules, keySet, tenants: tenants.current, log, now });
  if (wait) await keySet.renew();
  const dispose = (): PromiseLike<void> => provider[Symbol.asyncDispose]();
  return Object.assign(bench, { authenticator, tenants, keySet, [Symbol.asyncDispose]: dispose });
}

function ask({ authenticator }: Bench, token: string): Authentication | Promise<Authentication> {
  return authenticator.authenticate(`Bearer ${token}`);
}

/** Signs a token of the tenant `acme`, which has an entry, with the provider's first key. */
function tokenOf({ key }: Bench, parts?: TokenParts): Promise<string> {
  return signToken(key, 'acme', parts);
}

/** Authenticates with a token that `key` signs. */
async function outcomeOf(bench: Bench, key = bench.key, parts?: TokenParts): Promise<Authentication> {
  return ask(bench, await signToken(key, 'acme', parts));
}

/** The caller that a token identifies. Throws if the token is refused. */
async function callerOf(bench: Bench, token: string): Promise<Caller> {
  const answer = await ask(bench, token);
  if (answer.kind !== 'accepted') throw new Error(answer.kind);
  return answer.caller;
}

test.each<Algorithm>(['RS256', 'PS256', 'ES256', 'EdDSA'])(
  'a token signed with %s tells the tenant and the user',
  async (alg) => {
    await using bench = await start({ alg });
    const { subject = '', ...caller } = await callerOf(bench, await tokenOf(bench));
    expect(caller).toEqual({ key: 'phx_acme', sharingKey: acme.keyHash, queueKey: 'acme', tenant: acme });
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
    ['an unknown key', { header: { kid: '2' } }, 'the provider has no key with its `kid` and `alg`'],
  ])('%s, and the log says why', async (_name, parts, reason) => {
    await using bench = await start();
    const token = await tokenOf(bench, parts);
    for (let time = 0; time < 2; time += 1) expect(await ask(bench, token)).toEqual(invalid);
    expect([bench.logged.at(-1), bench.reasons.filter((logged) => logged !== undefined)]).toEqual([
      'info: a token was refused',
      [reason],
    ]);
  });

  test('a token without a signature, or with one by a shared secret that is the public key', async () => {
    await using bench = await start({ alg: 'RS256' });
    const [, payload = '', signature = ''] = (await tokenOf(bench)).split('.');
    expect(await ask(bench, `${base64({ alg: 'none' })}.${payload}.`)).toEqual(invalid);
    expect(await ask(bench, `${base64({ alg: 'none', kid: '1' })}.${payload}.${signature}`)).toEqual(invalid);
    const pem = createPublicKey({ key: bench.key.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const signed = `${base64({ alg: 'HS256', kid: '1' })}.${payload}`;
    const forged = createHmac('sha256', pem).update(signed).digest('base64url');
    expect(await ask(bench, `${signed}.${forged}`)).toEqual(invalid);
  });

  test('a key that the token brings itself', async () => {
    await using bench = await start();
    const attacker = await createSigningKey('1');
    await using elsewhere = await startProvider(attacker);
    for (const header of [{ jwk: attacker.jwk }, { jku: elsewhere.url }, { x5u: elsewhere.url }])
      expect(await outcomeOf(bench, attacker, { header })).toEqual(invalid);
    expect([elsewhere.asked, bench.provider.asked]).toEqual([0, 1]);
  });

  test('no token, two of them, one of another scheme, one that is malformed, and one that is too long', async () => {
    await using bench = await start();
    const { authenticator } = bench;
    const token = await tokenOf(bench);
    for (const none of [undefined, '']) expect(authenticator.authenticate(none)).toEqual({ kind: 'no token' });
    expect(authenticator.authenticate(`Bearer ${token}`, 2)).toEqual(invalid);
    const long = await tokenOf(bench, { claims: { filler: 'x'.repeat(6200) } });
    expect(long.length).toBeGreaterThan(8192);
    for (const value of [`Basic ${token}`, token, 'Bearer phx_key', `Bearer ${token}x`, `Bearer ${long}`])
      expect(await authenticator.authenticate(value)).toEqual(invalid);
    const largest = await tokenOf(bench, { claims: { filler: 'x'.repeat(5800) } });
    expect(await authenticator.authenticate(`Bearer ${largest}`)).toMatchObject({ kind: 'accepted' });
    expect(Object.fromEntries(authenticator.counts)).toEqual({ 'no token': 2, 'invalid token': 6, accepted: 1 });
  });

  test('a tenant that has no entry, whatever every object has, and the log names it', async () => {
    await using bench = await start();
    for (const name of ['globex', '__proto__', 'constructor', 'ACME']) {
      expect(await ask(bench, await signToken(bench.key, name))).toEqual({ kind: 'unknown tenant' });
      expect(bench.logged.at(-1)).toBe('info: a token names a tenant that UPSTREAM_KEYS does not have');
    }
  });
});

test('clocks may be apart by thirty seconds', async () => {
  await using bench = await start();
  const now = Math.floor(Date.now() / 1000);
  const claims = { exp: now - 20, nbf: now + 20 };
  expect(await outcomeOf(bench, bench.key, { claims })).toMatchObject({ kind: 'accepted' });
});

test.each<[string, Algorithm, Authentication['kind']]>([
  ['is taken if the provider has one key of its kind', 'RS256', 'accepted'],
  ['is refused if the provider has two keys of its kind', 'ES256', 'invalid token'],
])('a token without a kid %s', async (_what, alg, kind) => {
  await using bench = await start({ wait: false });
  const { key, provider, keySet } = bench;
  provider.serve(key, await createSigningKey('2', alg));
  await keySet.renew();
  expect(await outcomeOf(bench, key, { header: { kid: undefined } })).toMatchObject({ kind });
});

describe('A known token', () => {
  test('is answered at once, until it expires', async () => {
    await using bench = await start();
    const token = await tokenOf(bench);
    const first = await ask(bench, token);
    expect(ask(bench, token)).toBe(first);
    bench.later = 331_000;
    expect(ask(bench, token)).toBeInstanceOf(Promise);
  });

  test('is of the entry that its tenant has now, and is not verified again for that', async () => {
    await using bench = await start();
    const token = await tokenOf(bench);
    const before = await callerOf(bench, token);
    bench.tenants.change(new Map([['acme', { ...acme, key: 'phx_new' }]]));
    expect(ask(bench, token)).toMatchObject({ caller: { key: 'phx_new' } });
    expect(before.key).toBe('phx_acme');
    bench.tenants.change(new Map());
    expect(await ask(bench, token)).toMatchObject({ kind: 'unknown tenant' });
  });

  test('is not verified again when the provider has other keys beside its own', async () => {
    await using bench = await start();
    const { key, provider, keySet } = bench;
    const other = await createSigningKey('2');
    const token = await tokenOf(bench);
    await ask(bench, token);
    for (const [time, keys] of [
      [key, other],
      [other, key],
    ].entries()) {
      provider.serve(...keys);
      bench.later = 30_000 * (time + 1);
      await keySet.renew();
      expect(keySet.reloads.ok).toBe(time + 2);
      expect(ask(bench, token)).toMatchObject({ kind: 'accepted' });
    }
  });

  test('goes when its key does', async () => {
    await using bench = await start();
    const token = await tokenOf(bench);
    expect(await ask(bench, token)).toMatchObject({ kind: 'accepted' });
    const next = await createSigningKey('2');
    bench.provider.serve(next);
    bench.later = 30_000;
    expect(await outcomeOf(bench, next)).toMatchObject({ kind: 'accepted' });
    expect(await ask(bench, token)).toEqual(invalid);
  });
});

describe('The provider', () => {
  test('is asked again for an unknown key, but not twice within thirty seconds', async () => {
    await using bench = await start();
    const { provider } = bench;
    const [two, three] = [await createSigningKey('2'), await createSigningKey('3')];
    provider.serve(bench.key, two);
    expect(await outcomeOf(bench, two)).toEqual(invalid);
    expect(provider.asked).toBe(1);
    bench.later = 30_000;
    const answers = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(bench, two)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    expect(provider.asked).toBe(2);
    expect(await outcomeOf(bench, three)).toEqual(invalid);
    expect(provider.asked).toBe(2);
  });

  test('that fails leaves the last keys in use; what they do not know cannot be told', async () => {
    await using bench = await start();
    const { key: known, provider } = bench;
    const unknown = await createSigningKey('2');
    provider.answerWith((response) => void response.writeHead(500).end());
    bench.later = 3_600_000;
    const late = { claims: { exp: Math.floor(Date.now() / 1000) + 7200 } };
    expect(await outcomeOf(bench, unknown, late)).toEqual({ kind: 'unavailable', retryAfter: 30 });
    expect(await outcomeOf(bench, known, late)).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(2);
    bench.later += 10_000;
    expect(await outcomeOf(bench, unknown, late)).toMatchObject({ retryAfter: 20 });
    expect(provider.asked).toBe(2);
    expect(bench.logged.at(-1)).toBe(
      'error: the keys of the identity provider cannot be read; the previous keys stay in use',
    );
  });

  test('that has not answered yet is waited for; a token that cannot be valid is refused meanwhile', async () => {
    const waiting: ServerResponse[] = [];
    await using bench = await start({ answer: (response) => void waiting.push(response), wait: false });
    const answer = outcomeOf(bench);
    expect(await ask(bench, 'a.b.c')).toEqual(invalid);
    await until(() => waiting.length > 0);
    for (const response of waiting) answerJson(response, { keys: [bench.key.jwk] });
    expect(await answer).toMatchObject({ kind: 'accepted' });
    expect(bench.provider.asked).toBe(1);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['does not answer', () => undefined],
    [
      'begins an answer and does not end it',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys":['),
    ],
  ])('that %s has so long as it may take: tokens are not waited for any longer', async (_name, answer) => {
    await using bench = await start({ answer, timeoutMs: 50 });
    const { key: known, provider } = bench;
    expect(await outcomeOf(bench, known)).toMatchObject({ kind: 'unavailable' });
    provider.serve(known);
    bench.later = 30_000;
    expect(await outcomeOf(bench, known)).toMatchObject({ kind: 'accepted' });
    provider.answerWith(answer);
    bench.later = 60_000;
    expect(await outcomeOf(bench, await createSigningKey('2'))).toMatchObject({ kind: 'unavailable' });
    expect(await outcomeOf(bench, known)).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(3);
    const slow = 'no answer within 50 milliseconds';
    expect(bench.reasons).toEqual([slow, undefined, slow]);
  });

  test('that is down at the start is asked again after thirty seconds, when a token needs it', async () => {
    await using bench = await start({ answer: (response) => void response.destroy() });
    const { key, provider } = bench;
    provider.serve(key);
    bench.later = 15_000;
    expect(await outcomeOf(bench)).toMatchObject({ kind: 'unavailable' });
    expect(provider.asked).toBe(1);
    bench.later = 30_000;
    expect(await outcomeOf(bench)).toMatchObject({ kind: 'accepted' });
    expect(provider.asked).toBe(2);
  });

  test.each<[string, (response: ServerResponse) => void]>([
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
    await using bench = await start({ answer });
    expect(await outcomeOf(bench)).toMatchObject({ kind: 'unavailable' });
    expect(bench.logged).toEqual(['error: the keys of the identity provider cannot be read; no token can be verified']);
  });

  test('whose set has a key that cannot be used is not trusted with it, and its other keys are good', async () => {
    await using bench = await start({ wait: false });
    const { key, provider, keySet } = bench;
    const unusable = { kty: 'EC', crv: 'P-256', x: '!', y: '!', kid: '2' };
    provider.answerWith((response) => answerJson(response, { keys: [key.jwk, unusable] }));
    await keySet.renew();
    expect(await outcomeOf(bench, { ...key, kid: '2' })).toEqual(invalid);
    expect(await outcomeOf(bench)).toMatchObject({ kind: 'accepted' });
  });
});
