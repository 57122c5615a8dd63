import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isObject } from '../../src/rest/values.ts';
import { ask } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';
import * as rows from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { authorityPath } from '../support/tls.ts';
import { startUpstream } from '../support/upstream.ts';

const root = join(import.meta.dirname, '../..');
const rulesPath = join(root, 'examples/prometheus/rules.yaml');
const dashboard: unknown = JSON.parse(readFileSync(join(root, 'examples/grafana/dashboard.json'), 'utf8'));
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** The errors that promtool reports in a file of rules; empty if there are none. */
function errorsIn(path: string): string {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

function listIn(holder: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isObject(holder) ? holder[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const panels = listIn(dashboard, 'panels');
const panelQueries = panels.flatMap((panel) => listIn(panel, 'targets')).map(({ expr }) => String(expr));
const rules = listIn(parse(readFileSync(rulesPath, 'utf8')), 'groups').flatMap((group) => listIn(group, 'rules'));

test.runIf(hasPromtool)('promtool finds nothing wrong with the rules, nor with the queries of the dashboard', () => {
  expect(errorsIn(rulesPath)).toBe('');
  const folder = mkdtempSync(join(tmpdir(), 'rules-'));
  const path = join(folder, 'queries.json');
  const queries = panelQueries.map((query, index) => ({
    record: `panel:${index}`,
    expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'),
  }));
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules: queries }] }));
  expect(errorsIn(path)).toBe('');
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'broken', rules: [{ record: 'a', expr: 'sum(' }] }] }));
  expect(errorsIn(path)).not.toBe('');
  rmSync(folder, { recursive: true });
});

type Series = Readonly<Record<string, string>>;

/** Series that raise each alert after five minutes in which all is well. */
const driving: Readonly<Record<string, Series>> = {
  GatewayUpstreamUnreachable: { 'gateway_upstream_failures_total{place="upstream",reason="TIMEOUT"}': '0x5 60+60x20' },
  GatewayBreakerOpen: { 'gateway_breaker_open{instance="a"}': '0x5 1x20' },
  GatewayErrors: {
    'gateway_operations_total{code="none"}': '0+60x25',
    'gateway_operations_total{code="OVERLOADED"}': '0x5 60+60x20',
  },
  GatewayFault: { 'gateway_unexpected_errors_total{instance="a"}': '0x5 1+1x20' },
  GatewayReachFault: { 'gateway_reach_faults_total{instance="a"}': '0x5 1+1x20' },
  GatewayTenantKeyRefused: { 'gateway_held_key_refusals_total{instance="a"}': '0x5 1+1x20' },
  GatewayOverloaded: { 'gateway_operations_total{instance="a",code="OVERLOADED"}': '0x5 9+9x20' },
  GatewayRateLimited: { 'gateway_rest_calls_total{route="/api/projects/",status="429"}': '0x5 1+1x20' },
  GatewaySlow: {
    'gateway_operation_duration_seconds_bucket{le="1"}': '0+60x5 300x20',
    'gateway_operation_duration_seconds_bucket{le="5"}': '0+60x25',
    'gateway_operation_duration_seconds_bucket{le="+Inf"}': '0+60x25',
  },
  GatewayRedisFailing: { 'gateway_redis_failures_total{command="get"}': '0x5 1+1x20' },
  GatewayRedisDown: { 'gateway_redis_up{instance="a"}': '1x5 0x20' },
  GatewayBudgetLocal: { 'gateway_budget_mode{instance="a",mode="local"}': '0x5 1x20' },
  GatewayBudgetLost: { 'gateway_budget_lost_calls_total{instance="a"}': '0x5 7x20' },
  GatewayReloadFailed: { 'gateway_reloads_total{instance="a",what="documents",result="failed"}': '0x5 1x20' },
  GatewayCertificateExpires: {
    'gateway_certificate_expiry_timestamp_seconds{setting="UPSTREAM_CA"}': '3000000x5 600000x20',
  },
  GatewayWorkersRestart: { 'gateway_worker_restarts_total{instance="a"}': '0x5 4x20' },
};

/** Each of these raises its alert alone, too. */
const alsoDriving: readonly (readonly [alert: string, series: Series])[] = [
  ['GatewayOverloaded', { 'gateway_rest_sheds_total{instance="a"}': '0x5 9+9x20' }],
  ['GatewayOverloaded', { 'gateway_refused_requests_total{instance="a",reason="no_room_for_body"}': '0x5 9+9x20' }],
  ['GatewayOverloaded', { 'gateway_refused_requests_total{instance="a",reason="no_room_to_wait"}': '0x5 9+9x20' }],
  ['GatewayOverloaded', { 'gateway_refused_requests_total{instance="a",reason="connections"}': '0x5 9+9x20' }],
  ['GatewayUpstreamUnreachable', { 'gateway_upstream_failures_total{place="proxy",reason="TIMEOUT"}': '0x5 60+60x20' }],
];

const alerts = rules.map(({ alert }) => String(alert));

test('every alert is driven by a test, and stands in the runbook, which says what to do', () => {
  expect(Object.keys(driving).toSorted()).toEqual(alerts.toSorted());
  const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8');
  expect(alerts.filter((alert) => !runbook.includes(`\`${alert}\``))).toEqual([]);
});

test.runIf(hasPromtool).each([...Object.entries(driving), ...alsoDriving])(
  '%s is raised by what it is for, and not before: %j',
  (alert, series) => {
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    const [path, bare] = [join(folder, 'alerts.json'), join(folder, 'rules.json')];
    // Texts with numbers in them would have to be written out.
    const told = rules.map(({ annotations: _annotations, ...rule }) => rule);
    writeFileSync(bare, JSON.stringify({ groups: [{ name: 'gateway', rules: told }] }));
    const query = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
    const tests = [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          { expr: query, eval_time: '4m', exp_samples: [{ labels: '{}', value: 0 }] },
          { expr: query, eval_time: '19m', exp_samples: [{ labels: '{}', value: 1 }] },
        ],
      },
    ];
    writeFileSync(path, JSON.stringify({ rule_files: [bare], tests }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(status === 0 ? '' : stdout + stderr).toBe('');
  },
);

test('every alert says in words what is wrong and where to look', () => {
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, annotations, labels } of rules) {
    expect(alert).toMatch(/^Gateway[A-Z]/);
    expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) as unknown });
    expect(annotations).toEqual({ summary: expect.any(String) as unknown, description: expect.any(String) as unknown });
  }
});

test('the dashboard is in the form that Grafana imports: panels side by side, each with a query of the chosen source', () => {
  expect(dashboard).toMatchObject({ title: expect.any(String) as unknown, schemaVersion: 39 });
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const places = panels.map(({ gridPos }) =>
    isObject(gridPos) ? `${String(gridPos['x'])} ${String(gridPos['y'])}` : '',
  );
  expect(new Set(places).size).toBe(panels.length);
  for (const panel of panels) {
    expect(panel).toMatchObject({ datasource: { type: 'prometheus', uid: '${datasource}' } });
    expect(listIn(panel, 'targets').length).toBeGreaterThan(0);
  }
  const variables = listIn(isObject(dashboard) ? dashboard['templating'] : undefined, 'list').map(({ name }) => name);
  expect(variables).toEqual(['datasource', 'job']);
});

test('the dashboard shows which calls are saved, what is left of budgets, how often the cache hits, and how old its oldest answer is', () => {
  const asked = [
    'gateway_rest_calls_saved_total',
    'gateway_budget_left_ratio',
    'gateway_cache_reads_total',
    'gateway_cache_answer_age_seconds_bucket',
  ];
  expect(asked.filter((metric) => !panelQueries.some((query) => query.includes(metric)))).toEqual([]);
});

/** Metrics that no panel shows, each for a reason. */
const notShown: Readonly<Record<string, string>> = {
  // Of single documents, clients and columns: there are too many for a panel, and each has a page that says how to ask.
  ...{ gateway_listed_operations_total: 'documents', gateway_document_hits_total: 'documents' },
  ...{ gateway_document_errors_total: 'documents', gateway_document_rest_calls_total: 'documents' },
  ...{ gateway_documents_unused: 'documents', gateway_upstream_drift_total: 'drift' },
  // Alerts tell of them; otherwise they are 0.
  ...{ gateway_unexpected_errors_total: 'alert', gateway_reach_faults_total: 'alert' },
  ...{ gateway_held_key_refusals_total: 'alert', gateway_plans_total: 'GraphiQL' },
  // The panel of saved calls has them, by what saved the call.
  ...{ gateway_shared_operations_total: 'saved', gateway_rest_shared_reads_total: 'saved' },
  ...{ gateway_reused_operations_total: 'saved' },
};

test('every metric that a rule or a panel names is one that gateways have, and every one has a panel or a reason for none', {
  timeout: 60_000,
}, async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': rows.project(1) });
  const saving = { UPSTREAM_BUDGET: 'rest=480/60', CACHE_TTL: 'projects=60', UPSTREAM_CA: authorityPath };
  const settings = { PORT: '0', UPSTREAM_URL: upstream.url, WORKERS: '2', STOP_DELAY_MS: '0', LIVE: 'on', ...saving };
  // Metrics of a Redis are there without it, too.
  const shared = {
    ...{ REDIS_URL: 'redis://127.0.0.1:1', UPSTREAM_BUDGET_REPLICAS: '1' },
    ...{ UPSTREAM_BUDGET: 'rest=480/60 events=240/60 values=60/60' },
  };
  await using gateway = runMain([], { ...settings, ...shared });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  expect((await ask(url, '{ project(id: 1) { name } }')).errors).toBeUndefined();
  await using holdsKeys = await startTenants(upstream, { acme: { key: 'phx_acme' } });
  await holdsKeys.askAs('acme', '{ project(id: 1) { name } }');
  const texts = await Promise.all(
    [url, holdsKeys.url].map(async (each) => (await fetch(new URL('/metrics', each))).text()),
  );
  // Some have no values yet.
  const lines = [/^(\w+)(?:\{.*\})? \S+$/gm, /^# TYPE (\w+) counter$/gm];
  const told = new Set(lines.flatMap((line) => [...texts.join('').matchAll(line)].map(([, name]) => name)));
  const queries = [...panelQueries, ...rules.map(({ expr }) => String(expr))];
  const named = queries.flatMap((query) => query.match(/\b(?:gateway|nodejs|process)_\w+/g) ?? []);
  expect(new Set(named).size).toBeGreaterThan(15);
  expect([...new Set(named)].filter((name) => !told.has(name))).toEqual([]);
  const all = new Set([...texts.join('').matchAll(/^# TYPE (gateway_\w+) /gm)].map(([, name = '']) => name));
  expect(all.size).toBeGreaterThan(30);
  const shown = (name: string): boolean =>
    panelQueries.some((query) => new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(query));
  expect([...all].filter((name) => !shown(name) && notShown[name] === undefined)).toEqual([]);
  expect(Object.keys(notShown).filter((name) => !all.has(name) || shown(name))).toEqual([]);
  gateway.child.kill('SIGTERM');
  await gateway.exit();
});
