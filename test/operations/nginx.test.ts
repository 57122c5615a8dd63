import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { inForm, measured } from '../support/form.ts';
import { ask, startGateway } from '../support/gateway.ts';
import { codesOf, pause } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { runMain } from '../support/process.ts';
import { project } from '../support/rows.ts';
import { authorityPath, clientPaths, tlsPaths } from '../support/tls.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const change = 'mutation { updateProject(input: { id: 1, name: "a" }) { project { name } } }';
const routes = { 'GET /api/projects/1/': project(1), 'PATCH /api/projects/1/': project(1) };

describe.skipIf(!hasNginx)('With nginx before the upstream', () => {
  test('reloads under a load of reads and writes fail no operation, and each write is sent once', {
    timeout: 120_000,
  }, async () => {
    await using upstream = await startUpstream(routes);
    upstream.release();
    await using nginx = await startNginx({
      server: `keepalive_requests 10; keepalive_timeout 1s; location / { proxy_pass ${upstream.url}; }`,
    });
    await using gateway = await startGateway(nginx);
    const end = new AbortController();
    const failed: string[] = [];
    const answered = { reads: 0, writes: 0 };
    const clients = Array.from({ length: 20 }, async (_, index) => {
      const headers = { authorization: `Bearer phx_${index}` };
      while (!end.signal.aborted) {
        const isWrite = index % 2 === 0;
        const answer = await gateway.ask(isWrite ? change : query, { headers });
        if (answer.errors !== undefined) failed.push(answer.body);
        answered[isWrite ? 'writes' : 'reads'] += 1;
      }
    });
    for (let reloads = 0; reloads < inForm(4, 10); reloads += 1) {
      await pause(inForm(300, 3000));
      nginx.reload();
    }
    await pause(300);
    end.abort();
    await Promise.all(clients);
    expect(failed).toEqual([]);
    // nginx logs a request once it has answered it.
    const logged = async (): Promise<readonly string[]> =>
      (await nginx.accessLog()).filter((line) => line.startsWith('PATCH'));
    await expect.poll(logged).toHaveLength(answered.writes);
    expect(new Set(await logged())).toEqual(new Set(['PATCH /api/projects/1/ 200']));
    expect(upstream.requests.filter((line) => line.startsWith('PATCH'))).toHaveLength(answered.writes);
    measured('reloads of nginx', { ...answered, failed: failed.length });
  });

  const trusted = { UPSTREAM_CA: authorityPath };
  const shown = { ...trusted, UPSTREAM_CLIENT_CERT: clientPaths.certificate, UPSTREAM_CLIENT_KEY: clientPaths.key };
  const demanding = `ssl_client_certificate ${authorityPath}; ssl_verify_client on;`;
  const refusal =
    'CLIENT_CERTIFICATE_REFUSED: the upstream wants a client certificate, or refuses ours: see UPSTREAM_CLIENT_CERT';

  test.concurrent.each([
    ['a private authority that is trusted', 'server', '', trusted, 'answers', undefined],
    ['a private authority that is not', 'server', '', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UPSTREAM_UNAVAILABLE'],
    ['a client certificate wanted and shown', 'server', demanding, shown, 'answers', undefined],
    ['a client certificate wanted and not shown', 'server', demanding, trusted, refusal, 'UPSTREAM_INVALID_RESPONSE'],
  ] as const)(
    '%s: the greeting tells the operator, and the client learns a code',
    async (_what, name, directives, settings, told, code) => {
      await using upstream = await startUpstream(routes);
      await using nginx = await startNginx({
        tls: { certificate: tlsPaths[name], key: tlsPaths.key },
        server: `${directives} location / { proxy_pass ${upstream.url}; }`,
      });
      await using gateway = runMain([], { PORT: '0', STOP_DELAY_MS: '0', UPSTREAM_URL: nginx.url, ...settings });
      const [, url = '', upstreamSays = ''] = await gateway.printed(/^Gateway +(\S+)[^]*^Upstream +\S+ +\((.*)\)$/m);
      expect(upstreamSays.startsWith(told)).toBe(true);
      const answer = await ask(url, query);
      expect(codesOf(answer)).toEqual(code === undefined ? [] : [code]);
      expect(answer.body).not.toContain('certificate');
      const metrics = await metricsOf({ url });
      const counted = metrics.matchAll(/^gateway_upstream_failures_total\{reason="(\w+)",place="upstream"\} [1-9]/gm);
      const reasons = code === undefined ? [] : [told.split(':')[0]];
      expect([...counted].map(([, reason]) => reason)).toEqual(reasons);
    },
  );
});

describe.skipIf(!hasNginx)('With a cache of nginx before the gateway', () => {
  test('that is told to keep what may not be kept, no answer crosses keys', async () => {
    const { gateway } = await startBoth(({ headers }) => project(1, { name: `of ${headers['authorization']}` }), {
      corsOrigins: ['https://app.example'],
    });
    await using nginx = await startNginx({
      http: 'proxy_cache_path cache keys_zone=answers:1m;',
      server: `location / {
        proxy_pass ${new URL(gateway.url).origin};
        proxy_cache answers;
        proxy_cache_valid 200 10m;
        proxy_ignore_headers Cache-Control Expires;
        add_header x-cache $upstream_cache_status always;
      }`,
    });
    const get = async (headers: Readonly<Record<string, string>>): Promise<readonly [string | null, string]> => {
      const url = `${nginx.url}/graphql?query=${encodeURIComponent(query)}`;
      const response = await fetch(url, { headers: { accept: 'application/json', ...headers } });
      return [response.headers.get('x-cache'), await response.text()];
    };
    const origins = [{}, { origin: 'https://app.example' }];
    for (let round = 0; round < 3; round += 1) {
      for (const origin of origins) {
        for (const name of ['phx_anna', 'phx_berta']) {
          const [, body] = await get({ ...origin, authorization: `Bearer ${name}` });
          expect(body).toBe(JSON.stringify({ data: { project: { name: `of Bearer ${name}` } } }));
        }
        expect((await get(origin))[1]).toContain('UNAUTHENTICATED');
      }
    }
    // The cache is in use.
    const own = { authorization: 'Bearer phx_anna' };
    expect([await get(own), await get(own)].at(-1)?.[0]).toBe('HIT');
  });
});
