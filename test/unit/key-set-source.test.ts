import { expect, test } from 'vitest';
import { createTokenAuth } from '../../src/auth/authenticator.ts';
import { fetchKeySet, toKeySet } from '../../src/auth/key-set.ts';
import type { Log } from '../../src/log.ts';
import { createFolder } from '../support/persisted.ts';
import { startProxy } from '../support/proxy.ts';
import { authority, serverTls } from '../support/tls.ts';
import { audience, createSigningKey, issuer, startProvider } from '../support/tokens.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

test('a provider that sends no content type is understood; the log has the address and the type of what cannot be taken', async () => {
  const key = await createSigningKey('1');
  await using provider = await startProvider(key);
  provider.answerWith((response) => void response.writeHead(200).end(JSON.stringify({ keys: [key.jwk] })));
  expect(await fetchKeySet(provider.url, () => ({}))).toEqual({ keys: [key.jwk] });
  provider.answerWith((response) => void response.writeHead(200, { 'content-type': 'Text/HTML; x=y' }).end('<p>'));
  const facts: unknown[] = [];
  const rules = { issuer, audience, tenantClaim: 'tenant' };
  const log: Log = (_level, _message, fields) => facts.push(fields);
  const { keySet } = createTokenAuth(`${provider.url}?secret=hunter2`, () => ({}), {
    rules,
    tenants: () => new Map(),
    log,
  });
  await until(() => facts.length === 1);
  keySet.close();
  expect(facts).toEqual([
    {
      from: provider.url,
      reason: 'expected the content type application/json or application/jwk-set+json, but got text/html',
    },
  ]);
});

test('a key set may be a file, which is held to the same rules', async () => {
  using folder = createFolder();
  const key = await createSigningKey('1');
  const from = folder.write('keys.json', { keys: [key.jwk] });
  expect(await fetchKeySet(from, () => ({}))).toEqual({ keys: [key.jwk] });
  const broken = fetchKeySet(folder.write('broken.json', '{'), () => ({}));
  await expect(broken).rejects.toThrow('the file is not JSON');
  expect(toKeySet(`\uFEFF${JSON.stringify({ keys: [key.jwk] })}`, 'the file')).toEqual({ keys: [key.jwk] });
  expect(() => toKeySet('{}', 'the file')).toThrow('the file is JSON, but not a key set');
  expect(() => toKeySet('{"jwks_uri": "https://issuer.test/keys"}', 'the answer')).toThrow(
    'the answer is the configuration of a provider; its `jwks_uri` is the address of the key set',
  );
});

test('a provider is asked on the route that is configured', async () => {
  const key = await createSigningKey('1');
  const body = { keys: [key.jwk] };
  await using upstream = await startUpstream(() => body, { tls: serverTls });
  upstream.release();
  await using proxy = await startProxy();
  const from = `${upstream.url}/keys`;
  const route = { proxy: proxy.url, authorities: authority };
  expect(await fetchKeySet(from, () => route)).toEqual(body);
  expect(proxy.requests).toEqual([`CONNECT ${new URL(upstream.url).host}`]);
  expect(upstream.records.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  await expect(fetchKeySet(from, () => ({}))).rejects.toThrow('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
});
