import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Answer, ask } from '../support/gateway.ts';
import { codesOf } from '../support/load.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { type Entries, startBothTenants, startTenants } from '../support/tenants.ts';
import { createSigningKey, signToken, type TokenParts } from '../support/tokens.ts';

const routes = { 'GET /api/projects/1/': project(1), 'PATCH /api/projects/1/': project(1) };
const entries: Entries = { acme: { key: 'phx_acme', mutations: true } };
const query = '{ project(id: 1) { name } }';
const origin = 'https://app.example';
const invalid = 'Bearer error="invalid_token"';

type Headers = Readonly<Record<string, string>>;

function subjectOf(user: string): string {
  return hash('sha256', user, 'base64url').slice(0, 8);
}

const options = { corsOrigins: [origin], explain: true };

function refusalOf(answer: Answer): readonly unknown[] {
  const header = (name: string): string | null => answer.headers.get(name);
  return [answer.status, codesOf(answer), header('www-authenticate'), header('access-control-allow-origin')];
}

describe('Of the requests for JSON', () => {
  test.each<[string, TokenParts | Headers, string]>([
    ['no token', { authorization: '' }, 'Bearer'],
    ['a key', { authorization: 'Bearer phx_acme' }, invalid],
    ['an expired token', { claims: { exp: 1 } }, invalid],
  ])('a request with %s is refused with 401, CORS headers and no call', async (_name, parts, challenge) => {
    const { upstream, gateway } = await startBothTenants(routes, entries, options);
    const headers = 'authorization' in parts ? parts : await gateway.headersOf('acme', parts);
    const answers = await Promise.all([
      ask(gateway.url, query, { headers: { ...headers, origin } }),
      ask(gateway.url, 'mutation { updateProject(input: { id: 1 }) { project { id } } }', {
        headers: { ...headers, origin },
      }),
      ask(gateway.url, '{ __typename }', {
        headers: { ...headers, origin, accept: 'application/graphql-response+json' },
      }),
      ask(gateway.url, query, { headers: { ...headers, origin }, extensions: { explain: 'plan' } }),
      ask(gateway.url, 'no document', { headers: { ...headers, origin } }),
    ]);
    for (const answer of answers) expect(refusalOf(answer)).toEqual([401, ['UNAUTHENTICATED'], challenge, origin]);
    expect(answers[0].headers.get('access-control-expose-headers')).toMatch(
      /^retry-after, x-request-id, .*www-authenticate$/,
    );
    expect(upstream.requests).toEqual([]);
  });

  test('while the provider fails a token cannot be verified: 503, with a time to come back', async () => {
    const { gateway } = await startBothTenants(routes, entries, {
      ...options,
      auth: {
        rules: { issuer: 'i', audience: 'a', tenantClaim: 'tenant', rolesClaim: undefined },
        keySet: 'http://127.0.0.1:1/',
        route: {},
      },
    });
    const answer = await gateway.askAs('acme', query, { headers: { origin } });
    expect(refusalOf(answer)).toEqual([503, ['AUTHENTICATION_UNAVAILABLE'], null, origin]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(20);
    expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
  });

  test('two Authorization headers are refused, though each of them would do', async () => {
    const { upstream, gateway } = await startBothTenants(routes, entries, options);
    const { authorization = '' } = await gateway.headersOf('acme');
    const headers = [
      'content-type',
      'application/json',
      'authorization',
      authorization,
      'Authorization',
      authorization,
    ];
    const answer = await sendRaw(gateway.url, { headers, body: JSON.stringify({ query }) });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, invalid]);
    expect(upstream.requests).toEqual([]);
  });

  test('a token of eight KiB is taken', async () => {
    const { gateway } = await startBothTenants(routes, entries, options);
    const headers = await gateway.headersOf('acme', { claims: { filler: 'x'.repeat(5800) } });
    expect(headers['authorization']?.length).toBeGreaterThan(8000);
    expect((await ask(gateway.url, query, { headers })).data).toEqual({ project: { name: 'Project 1' } });
  });
});

test('preflights and the page of GraphiQL need no token', async () => {
  await using gateway = await startTenants({ url: 'http://127.0.0.1:1' }, entries, { corsOrigins: [origin] });
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const preflight = await fetch(gateway.url, { method: 'OPTIONS', headers });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  expect(preflight.headers.get('access-control-allow-headers')).toMatch(
    /authorization, cache-control.*apollographql-client-name/,
  );
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('what a request was refused for is counted and logged without the token', async () => {
  const logged: unknown[] = [];
  const { gateway } = await startBothTenants(routes, entries, {
    log: (_level, _message, facts) => logged.push(facts),
  });
  await ask(gateway.url, query, { headers: { authorization: '' } });
  const stranger = await signToken(await createSigningKey('stranger'), 'acme');
  await ask(gateway.url, query, { headers: { authorization: `Bearer ${stranger}` } });
  await gateway.askAs('globex', query);
  await gateway.askAs('acme', query);
  await gateway.askAs('acme', query);
  const metrics = await gateway.gateway.metrics.render();
  const results = metrics.match(/^gateway_authentications_total\{.*$/gm)?.toSorted();
  expect(results).toEqual([
    'gateway_authentications_total{result="accepted"} 2',
    'gateway_authentications_total{result="invalid_token"} 1',
    'gateway_authentications_total{result="no_token"} 1',
    'gateway_authentications_total{result="unknown_tenant"} 1',
  ]);
  expect(logged.filter((facts) => JSON.stringify(facts).includes('requestId'))).toMatchObject([
    { codes: ['UNAUTHENTICATED'], tenant: undefined, caller: undefined },
    { codes: ['UNAUTHENTICATED'], tenant: undefined },
    { codes: ['FORBIDDEN'], tenant: undefined },
    { codes: [], tenant: 'acme', subject: subjectOf('user-1'), caller: undefined, calls: 1 },
    { codes: [], tenant: 'acme' },
  ]);
});
