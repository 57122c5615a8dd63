import { X509Certificate } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerCodes } from '../../src/operation/request-error.ts';
import { startBoth } from '../support/both.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { createFolder } from '../support/persisted.ts';
import * as rows from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { authority, clientPaths, clientTls, expiredTls } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

const routes = {
  'GET /api/projects/1/': rows.project(1),
  'GET /api/projects/1/dashboards/': {
    count: 4,
    next: null,
    results: [1, 2, 3, 4].map((id) => rows.listedDashboard(id)),
  },
};

/** The samples of one metric, by their labels. */
async function read(gateway: TestGateway, name: string): Promise<ReadonlyMap<string, number>> {
  const text = await metricsOf(gateway);
  const lines = text.split('\n').filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
  return new Map(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function savedBy(gateway: TestGateway): Promise<Readonly<Record<string, number>>> {
  const samples = await read(gateway, 'gateway_rest_calls_saved_total');
  const named = [...samples].map(([labels, value]) => [/by="(\w+)"/.exec(labels)?.[1] ?? '', value] as const);
  return Object.fromEntries(named.filter(([, value]) => value > 0));
}

test.each([
  [
    'a window within another of its list',
    '{ project(id: 1) { a: dashboards(first: 2) { nodes { name } } b: dashboards(first: 4) { nodes { name } } } }',
    1,
    { loaders: 1 },
  ],
  [
    'a count beside a page',
    '{ project(id: 1) { dashboards(first: 4) { nodes { name } } count: dashboards { totalCount } } }',
    1,
    { loaders: 1 },
  ],
  [
    'a second count',
    '{ a: project(id: 1) { dashboards { totalCount } } b: project(id: "1") { dashboards { totalCount } } }',
    1,
    { loaders: 1 },
  ],
  ['a row that is being read', '{ a: project(id: 1) { name } b: project(id: "1") { timezone } }', 1, { loaders: 1 }],
  [
    'rows that a list has',
    '{ project(id: 1) { dashboards(first: 4) { nodes { name project { name } } } } }',
    2,
    { loaders: 3 },
  ],
  [
    'rows by id of one list',
    '{ project(id: 1) { a: dashboard(id: 1) { name } b: dashboard(id: 2) { name } c: dashboard(id: 3) { name } } }',
    1,
    { loaders: 2 },
  ],
  ['nothing at all', '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }', 2, {}],
])('calls that are saved are counted: %s', async (_what, query, calls, saved) => {
  const { upstream, gateway } = await startBoth(routes);
  expect((await gateway.ask(query)).errors).toBeUndefined();
  expect(upstream.requests).toHaveLength(calls);
  expect(await savedBy(gateway)).toEqual(saved);
});

test('every call is in the histogram of its route, which names no id', async () => {
  const { gateway } = await startBoth(routes);
  await gateway.ask('{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }');
  await gateway.ask('{ project(id: 2) { name } }');
  const counts = await read(gateway, 'gateway_rest_call_duration_seconds_count');
  expect(Object.fromEntries(counts)).toEqual({
    '{route="/api/projects/:id/"}': 2,
    '{route="/api/projects/:id/dashboards/"}': 1,
  });
  const buckets = await read(gateway, 'gateway_rest_call_duration_seconds_bucket');
  expect([...buckets.keys()]).toHaveLength(24);
  expect(buckets.get('{le="+Inf",route="/api/projects/:id/"}')).toBe(2);
});

test('what operations could call and what they called is in two histograms, up to the limit of calls', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxUpstreamCalls: 4, explain: true });
  const query = '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
  await gateway.ask(query);
  const five = [1, 2, 3, 4, 5].map((id) => `p${id}: project(id: ${id}) { name }`).join(' ');
  const refusal = (await gateway.ask(`{ ${five} }`)).errors?.[0]?.extensions;
  expect(refusal).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', calls: 6 });
  // Neither has a cost: one has no key to call with, the other is no operation.
  await gateway.ask(query, { headers: { authorization: '' } });
  await gateway.ask(query, { extensions: { explain: 'plan' } });
  expect(upstream.requests).toHaveLength(2);
  expect(await callsOf(gateway, 'planned')).toEqual({ '0': 0, '1': 0, '2': 1, '3': 1, '4': 1, '+Inf': 2, sum: 2 + 6 });
  expect(await callsOf(gateway, 'actual')).toEqual({ '0': 1, '1': 1, '2': 2, '3': 2, '4': 2, '+Inf': 2, sum: 2 });
});

test.each([
  ['{ project(id: 1) { name } }', {}, 1],
  ['{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }', {}, 2],
  ['{ project(id: 1) { dashboards(after: "nonsense") { nodes { name } } } }', {}, 1],
  ['mutation { updateProject(input: { id: 1, name: "x" }) { project { name dashboards { totalCount } } } }', {}, 2],
  ['mutation ($id: ID!) { updateProject(input: { id: $id, name: "x" }) { project { name } } }', { id: '1' }, 1],
])('the log and the metric plan as many calls for %s as `explain` does', async (query, variables, calls) => {
  const lines: unknown[] = [];
  const { gateway } = await startBoth(
    { ...routes, 'PATCH /api/projects/1/': rows.project(1) },
    { explain: true, log: (...line) => lines.push(line[2]) },
  );
  const explained = await gateway.ask(query, { variables, extensions: { explain: 'plan' } });
  expect(explained.extensions).toMatchObject({ explain: { upper: calls } });
  await gateway.ask(query, { variables });
  expect(lines).toMatchObject([{ plannedCalls: calls }]);
  expect((await callsOf(gateway, 'planned'))['sum']).toBe(calls);
});

test('a query with variables that cannot exceed a limit is not planned, and says no planned calls', async () => {
  const lines: unknown[] = [];
  const { gateway } = await startBoth(routes, { log: (...line) => lines.push(line[2]) });
  await gateway.ask('query ($id: ID!) { project(id: $id) { name } }', { variables: { id: '1' } });
  expect(lines).toMatchObject([{ calls: 1, plannedCalls: undefined }]);
});

test('requests for a plan count as no operation and stand in no log, whatever becomes of them', async () => {
  const lines: unknown[] = [];
  const { upstream, gateway } = await startBoth(routes, {
    explain: true,
    log: (...line) => lines.push(line),
  });
  const before = await read(gateway, 'gateway_operations_total');
  const plan = { extensions: { explain: 'plan' } };
  expect((await gateway.ask('{ projects { totalCount } }', plan)).extensions?.['explain']).toMatchObject({ upper: 1 });
  for (const refused of ['{ proj', '{ unknown }', 'query ($id: ID!) { project(id: $id) { name } }']) {
    expect((await gateway.ask(refused, plan)).errors).toHaveLength(1);
  }
  expect(await read(gateway, 'gateway_operations_total')).toEqual(before);
  expect((await read(gateway, 'gateway_operation_duration_seconds_count')).get('')).toBe(0);
  expect((await read(gateway, 'gateway_operations_in_flight')).get('')).toBe(0);
  expect((await read(gateway, 'gateway_plans_total')).get('')).toBe(4);
  expect(lines).toEqual([]);
  expect(upstream.requests).toEqual([]);
  await gateway.ask('{ project(id: 1) { name } }');
  expect((await read(gateway, 'gateway_operations_total')).get('{code="none"}')).toBe(1);
  expect(lines).toHaveLength(1);
});

/** A histogram of calls: how many operations had at most so many, and the calls of all together. */
async function callsOf(gateway: TestGateway, which: 'planned' | 'actual'): Promise<Readonly<Record<string, number>>> {
  const name = `gateway_operation_${which}_calls`;
  const buckets = await read(gateway, `${name}_bucket`);
  const byBound = [...buckets].map(([labels, value]) => [/le="(.+)"/.exec(labels)?.[1] ?? '', value] as const);
  const sum = (await read(gateway, `${name}_sum`)).get('') ?? 0;
  return { ...Object.fromEntries(byBound), sum };
}

test('codes, reasons and what saves calls are there with 0 before anything has happened, and so is the version', async () => {
  const { gateway } = await startBoth(routes);
  const operations = await read(gateway, 'gateway_operations_total');
  expect(operations.get('{code="UPSTREAM_UNAVAILABLE"}')).toBe(0);
  expect([...operations.values()]).toEqual(answerCodes.map(() => 0));
  const failures = await read(gateway, 'gateway_upstream_failures_total');
  expect(failures.get('{reason="ECONNREFUSED",place="upstream"}')).toBe(0);
  expect([...(await read(gateway, 'gateway_rest_calls_saved_total')).values()]).toEqual([0, 0, 0, 0]);
  expect([...(await read(gateway, 'gateway_build_info')).keys()]).toEqual([
    expect.stringContaining(`node="${process.versions.node}"`),
  ]);
});

test('every code that the source gives an error is one of those that are counted from the start', () => {
  const root = new URL('../../src/', import.meta.url).pathname;
  const files = globSync(['**/*.ts'], { cwd: root });
  const texts = files.map((file) => readFileSync(root + file, 'utf8'));
  const codes = texts.flatMap((text) => [...text.matchAll(/code: '([A-Z][A-Z_]+)'/g)].map(([, code = '']) => code));
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.filter((code) => !answerCodes.includes(code))).toEqual([]);
});

test('what was read again while the gateway ran is counted, by what it was and whether it could be used', async () => {
  using folder = createFolder();
  const files = folder.write('manifest.json', { a: '{ __typename }' });
  const certificates = folder.write('ca.pem', authority);
  const persisted = { files, pollMs: 3_600_000 };
  await using gateway = await startTenants(
    { url: 'http://127.0.0.1:1' },
    {},
    { persisted, upstreamTlsFiles: { UPSTREAM_CA: certificates } },
  );
  const counts = (): Promise<ReadonlyMap<string, number>> => read(gateway, 'gateway_reloads_total');
  const before = await counts();
  expect(before.get('{what="documents",result="failed"}')).toBe(0);
  expect(before.get('{what="certificates",result="failed"}')).toBe(0);
  await gateway.gateway.reload();
  folder.write('manifest.json', '{');
  folder.write('ca.pem', 'nothing');
  await gateway.gateway.reload();
  await gateway.gateway.reload();
  const after = await counts();
  expect(after.get('{what="documents",result="ok"}')).toBe(1);
  expect(after.get('{what="documents",result="failed"}')).toBe(2);
  expect(after.get('{what="certificates",result="ok"}')).toBeGreaterThanOrEqual(1);
  expect(after.get('{what="certificates",result="failed"}')).toBeGreaterThanOrEqual(2);
  await until(async () => (await counts()).get('{what="keys",result="ok"}') === 1);
});

test('when the first certificate of a file expires is told, also after the file has changed', async () => {
  using folder = createFolder();
  const upstreamTlsFiles = {
    UPSTREAM_CA: folder.write('ca.pem', authority),
    UPSTREAM_CLIENT_CERT: clientPaths.certificate,
    UPSTREAM_CLIENT_KEY: clientPaths.key,
  };
  const expiryOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime() / 1000;
  await using gateway = await startGateway({ url: 'http://127.0.0.1:1' }, { upstreamTlsFiles });
  const expiries = (): Promise<ReadonlyMap<string, number>> =>
    read(gateway, 'gateway_certificate_expiry_timestamp_seconds');
  const client = ['{setting="UPSTREAM_CLIENT_CERT"}', expiryOf(clientTls.certificate)] as const;
  expect(await expiries()).toEqual(new Map([['{setting="UPSTREAM_CA"}', expiryOf(authority)], client]));
  folder.write('ca.pem', `${authority}${expiredTls.cert}`);
  await gateway.gateway.reload();
  expect(await expiries()).toEqual(new Map([['{setting="UPSTREAM_CA"}', expiryOf(expiredTls.cert)], client]));
  folder.write('ca.pem', 'nothing');
  await gateway.gateway.reload();
  expect((await expiries()).get('{setting="UPSTREAM_CA"}')).toBe(expiryOf(expiredTls.cert));
  await using without = await startGateway({ url: 'http://127.0.0.1:1' });
  expect((await read(without, 'gateway_certificate_expiry_timestamp_seconds')).size).toBe(0);
});

test('calls are counted by tenant, those of the first hundred apart, and by none if callers bring their keys', async () => {
  await using upstream = await startUpstream(routes);
  const names = Array.from({ length: 103 }, (_, index) => `tenant-${index}`);
  const entries = Object.fromEntries(names.map((name) => [name, { key: `phx_${name}` }]));
  await using gateway = await startTenants(upstream, entries);
  const query = '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
  for (const name of names) expect((await gateway.askAs(name, query)).errors).toBeUndefined();
  const counts = await read(gateway, 'gateway_tenant_rest_calls_total');
  expect(counts.size).toBe(101);
  expect(counts.get('{tenant="tenant-0"}')).toBe(2);
  expect(counts.get('{tenant="tenant-99"}')).toBe(2);
  expect(counts.get('{tenant="other"}')).toBe(6);
  await using direct = await startGateway(upstream);
  expect((await direct.ask(query)).errors).toBeUndefined();
  expect((await read(direct, 'gateway_tenant_rest_calls_total')).size).toBe(0);
});
