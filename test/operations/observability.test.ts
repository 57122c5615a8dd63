import { expect, test, vi } from 'vitest';
import { startBoth } from '../support/both.ts';
import { metricsOf } from '../support/metrics.ts';
import { runMain } from '../support/process.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const routes = { 'GET /api/projects/1/': rows.project(1) };
const byName = '{ project(id: 1) { name } }';

test('metrics count operations, REST calls by route and what was shared, and name no key', async () => {
  // However long a busy machine takes to read the requests, they can share.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  const dashboards = { 'GET /api/projects/1/dashboards/': { count: 0, next: null, results: [] } };
  const { upstream, gateway } = await startBoth({ ...routes, ...dashboards }, {}, { hold: 1000 });
  const metrics = (): Promise<string> => metricsOf(gateway);
  const twoCalls = '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
  const together = [twoCalls, twoCalls, '{ again: project(id: 1) { timezone } }'].map((query) => gateway.ask(query));
  await expect.poll(metrics).toContain('gateway_operations_in_flight 3');
  upstream.release();
  await Promise.all(together);
  await gateway.ask('{ project(id: 2) { name dashboards { nodes { name } } } }');
  await gateway.ask('{ nothing }');
  const text = await metrics();
  expect(text).toContain('gateway_operations_total{code="none"} 4');
  expect(text).toContain('gateway_operations_total{code="GRAPHQL_VALIDATION_FAILED"} 1');
  expect(text).toContain('gateway_rest_calls_total{method="GET",route="/api/projects/:id/",status="200"} 1');
  expect(text).toContain('gateway_rest_calls_total{method="GET",route="/api/projects/:id/",status="404"} 1');
  expect(text).toContain('gateway_shared_operations_total 1');
  expect(text).toContain('gateway_rest_shared_reads_total 1');
  expect(text).toContain('gateway_rest_calls_saved_total{by="shared_operations"} 2\n');
  expect(text).toContain('gateway_rest_calls_saved_total{by="shared_reads"} 1\n');
  expect(text).toContain('gateway_operation_duration_seconds_count 5');
  expect(text).toContain('gateway_operations_in_flight 0');
  expect(text).toContain('gateway_breaker_open 0');
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
  expect(text).not.toContain('phx_');
});

test('an operation whose client leaves is counted as that, and not as a failure of the upstream', async () => {
  const { upstream, gateway } = await startBoth(routes, {}, { hold: 2 });
  const leave = new AbortController();
  const asked = gateway.ask(byName, { signal: leave.signal });
  while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  leave.abort();
  await expect(asked).rejects.toThrow('aborted');
  const counts = async (): Promise<string[]> =>
    (await metricsOf(gateway)).match(/^gateway_operations_total.* [1-9]\d*$/gm) ?? [];
  await expect.poll(counts).toEqual(['gateway_operations_total{code="CLIENT_LEFT"} 1']);
});

test('readiness shows the state of the breaker and does not depend on it', async () => {
  const { gateway } = await startBoth(routes);
  const readiness = await fetch(new URL('/readyz', gateway.url));
  expect([readiness.status, await readiness.json()]).toEqual([
    200,
    { status: 'ready', upstream: { breaker: 'closed', state: 'unknown' } },
  ]);
  expect((await fetch(new URL('/healthz', gateway.url))).status).toBe(200);
});

test('an answer carries the request id that came with the request, and a new one if none came', async () => {
  const { gateway } = await startBoth(routes);
  const given = await gateway.ask(byName, { headers: { 'x-request-id': 'req-7' } });
  expect(given.headers.get('x-request-id')).toBe('req-7');
  const made = await gateway.ask(byName);
  expect(made.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  const hostile = await gateway.ask(byName, { headers: { 'x-request-id': '{"a":"b"}' } });
  expect(hostile.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
});

test('each operation is one JSON line in the log, without the key', async () => {
  await using upstream = await startUpstream(routes);
  await using process = runMain([], { PORT: '0', UPSTREAM_URL: upstream.url, STOP_DELAY_MS: '0' });
  const [, url = ''] = await process.printed(/^Gateway +(\S+)/m);
  const query = `query Named { project(id: 1) { name } absent: project(id: 2) { dashboards { totalCount } } }`;
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer phx_secret', 'x-request-id': 'req-1' },
    body: JSON.stringify({ query }),
  });
  process.child.kill('SIGTERM');
  await process.exit();
  const line = process
    .output()
    .split('\n')
    .find((text) => text.includes('"operation"'));
  const aNumber: unknown = expect.any(Number);
  const eightCharacters: unknown = expect.stringMatching(/^[\w-]{8}$/);
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 30,
    msg: 'operation',
    requestId: 'req-1',
    operationName: 'Named',
    durationMs: aNumber,
    calls: 3,
    codes: [],
    caller: eightCharacters,
  });
  expect(process.output()).not.toContain('phx_secret');
});
