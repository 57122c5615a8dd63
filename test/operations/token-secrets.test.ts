import { describe, expect, test } from 'vitest';
import { ask } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { startCollector } from '../support/otlp.ts';
import { automatic, createFolder, registration } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { refusal } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { audience, createSigningKey, issuer, signToken } from '../support/tokens.ts';
import { startUpstream } from '../support/upstream.ts';

const secretKey = 'phx_secret_of_the_tenant_42';

describe.skipIf(!hasRedis)('Neither token nor key is', () => {
  test('in logs, metrics, errors, answers, traces or Redis, whatever the upstream echoes', async () => {
    using folder = createFolder();
    const key = await createSigningKey('1');
    await using redis = await startRedis();
    using told = await redis.watch();
    await using collector = await startCollector();
    await using upstream = await startUpstream(
      ({ path, headers }) =>
        path.endsWith('/1/')
          ? project(1)
          : refusal(path.endsWith('/4/') ? 401 : 403, 'permission_denied', `The key ${headers.authorization} may not.`),
      { hold: 1 },
    );
    await using gateway = runMain([], {
      PORT: '0',
      LOG_LEVEL: 'trace',
      UPSTREAM_URL: upstream.url,
      AUTH: 'jwt',
      JWT_JWKS: folder.write('jwks.json', { keys: [key.jwk] }),
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: audience,
      UPSTREAM_KEYS: folder.write('keys.json', { acme: { key: secretKey, mutations: true } }),
      CURSOR_SECRET: '0123456789abcdef',
      PERSISTED_DOCUMENTS_MODE: 'allow',
      EXPLAIN: 'on',
      REDIS_URL: redis.url,
      CACHE_TTL: 'projects=60',
      UPSTREAM_BUDGET: 'rest=1000/60',
      UPSTREAM_BUDGET_REPLICAS: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    const tokens = await Promise.all([
      signToken(key, 'acme'),
      signToken(key, 'globex'),
      signToken(key, 'acme', { claims: { exp: 1 } }),
      signToken(await createSigningKey('stranger'), 'acme'),
    ]);
    const text = 'query Registered { project(id: 1) { name } }';
    const bodies: string[] = [];
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` };
      for (const query of [
        '{ one: project(id: 1) { name } two: project(id: 2) { name } three: project(id: 3) { name } }',
        'mutation { updateProject(input: { id: 2 }) { project { name } } }',
        'no document',
      ]) {
        bodies.push((await ask(url, query, { headers })).body);
        bodies.push((await ask(url, query, { headers, extensions: { explain: 'trace', cost: true } })).body);
      }
      const { query, extensions = {} } = { ...registration(text), query: text, ...automatic('') };
      for (const params of [registration(text), { query, extensions }]) {
        for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed']) {
          const init = { method: 'POST', headers: { ...headers, accept, 'content-type': 'application/json' } };
          const answer = await fetch(url, { ...init, body: JSON.stringify(params) });
          bodies.push(JSON.stringify([...answer.headers]), await answer.text());
        }
      }
    }
    // Last: a key that is not taken is refused for a while.
    const last = { headers: { authorization: `Bearer ${tokens[0]}` } };
    bodies.push((await ask(url, '{ project(id: 4) { name } }', last)).body);
    const metrics = await metricsOf({ url });
    gateway.child.kill('SIGTERM');
    await gateway.exit();
    await redis.ask('ECHO', 'the end');
    await expect.poll(() => told.commands.some((command) => command.includes('the end'))).toBe(true);
    const places = {
      log: gateway.output(),
      metrics,
      answers: bodies.join('\n'),
      traces: collector.bodies.join('\n'),
      redis: told.commands.join('\n'),
    };
    // Each of them has something that could be one.
    expect(Object.values(places).every((place) => place.length > 20)).toBe(true);
    expect(places.log).toContain('the upstream rejects the key of a tenant');
    const secrets = [secretKey, ...tokens, ...tokens.flatMap((token) => token.split('.').slice(1)), 'user-1'];
    for (const [place, content] of Object.entries(places)) {
      for (const secret of secrets) expect(content.includes(secret) ? `${place} has ${secret}` : place).toBe(place);
    }
    expect(upstream.records.length).toBeGreaterThan(3);
    expect(new Set(upstream.records.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${secretKey}`]),
    );
  });
});
