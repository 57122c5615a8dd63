import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { askMcp } from '../support/agents.ts';
import { ask } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { metricsOf } from '../support/metrics.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/otlp.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { createFolder } from '../support/persisted.ts';
import { type Running, runMain } from '../support/process.ts';
import { disconnect, hang, reply } from '../support/replies.ts';
import { type Routes, route } from '../support/routes.ts';
import * as rows from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const secret = { authorization: 'Bearer phx_secret' };

interface Tracing {
  readonly url: string;
  readonly gateway: Running;
  /** Ends the gateway, which sends what it has not sent yet. */
  readonly stop: () => Promise<number | null>;
}

async function startTraced(
  upstream: Upstream,
  collector: Collector,
  environment: Readonly<Record<string, string>> = {},
): Promise<Tracing> {
  const gateway = runMain([], {
    PORT: '0',
    STOP_DELAY_MS: '0',
    UPSTREAM_URL: upstream.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...environment,
  });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  const stop = (): Promise<number | null> => {
    gateway.child.kill('SIGTERM');
    return gateway.exit();
  };
  return { url, gateway, stop };
}

const listed = 'query Listed { project(id: 1) { name } }';

let answers: Routes = {};
let upstream: Upstream;
let collector: Collector;
let shared: Tracing;
const started = new AsyncDisposableStack();

// One gateway for the tests that need no settings of their own.
beforeAll(async () => {
  upstream = started.use(await startUpstream((request) => route(answers)(request), { hold: 0 }));
  collector = started.use(await startCollector());
  const documents = { [hashOf(listed)]: listed, first: 'query First { project(id: 1) { name } }' };
  shared = await startTraced(upstream, collector, {
    PERSISTED_DOCUMENTS: started.use(createFolder()).write('manifest.json', documents),
    MCP_TOOLS: 'First',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OPERATION_DEADLINE_MS: '60000',
  });
  started.use(shared.gateway);
});

beforeEach(() => {
  answers = { 'GET /api/projects/1/': rows.project(1) };
  upstream.reset();
  collector.reset();
});

afterAll(() => started.disposeAsync());

/** Waits for so many spans, and returns them. */
async function spansOf(count: number): Promise<readonly ReceivedSpan[]> {
  await expect.poll(() => collector.spans).toHaveLength(count);
  return collector.spans;
}

function byName(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`expected one span ${name}, got ${found.length}`);
  return found[0];
}

test('an operation and its REST calls are spans of the trace of the request, unless the sampler has left that out', async () => {
  answers = {
    ...answers,
    'GET /api/projects/1/dashboards/': { count: 1, next: null, results: [rows.listedDashboard(1)] },
  };
  const { url } = shared;
  const unsampled = { ...secret, traceparent: traceparent.replace(/01$/, '00') };
  await ask(url, '{ project(id: 1) { name } }', { headers: unsampled });
  expect(upstream.records[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`));
  upstream.reset();
  const query = 'query Named { project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
  const headers = { ...secret, traceparent, tracestate: 'vendor=a1,other=b2', 'x-request-id': 'req-9' };
  expect((await ask(url, query, { headers })).errors).toBeUndefined();

  const spans = await spansOf(3);
  const operation = byName(spans, 'query');
  expect(operation).toMatchObject({
    traceId,
    parentSpanId: 'b7ad6b7169203331',
    kind: 2,
    attributes: {
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'Named',
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'request.id': 'req-9',
    },
  });
  for (const [template, target] of [
    ['/api/projects/:id/', '/api/projects/1/'],
    ['/api/projects/:id/dashboards/', '/api/projects/1/dashboards/?limit=2'],
  ]) {
    const call = byName(spans, `GET ${template}`);
    expect(call).toMatchObject({ traceId, parentSpanId: operation.spanId, kind: 3 });
    expect(call.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'url.template': template,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
    });
    const sent = upstream.records.find((record) => record.target === target);
    expect(sent?.headers['traceparent']).toBe(`00-${traceId}-${call.spanId}-01`);
    expect(sent?.headers['tracestate']).toBe('vendor=a1,other=b2');
  }
  expect(collector.resource['service.name']).toBe('workspace-graphql-gateway');
  // Neither metrics nor logs, which the SDK would send by default.
  expect(new Set(collector.requests)).toEqual(new Set(['POST /v1/traces']));
  expect(collector.bodies.join('')).not.toContain('phx_secret');

  // Spans are sent in the order in which they end: once those of a later operation are here, no span of this one
  // follows.
  await ask(url, '{ project(id: 1) { name } }', { headers: secret });
  await expect.poll(() => collector.spans.filter((span) => span.traceId !== traceId)).toHaveLength(2);
  expect(collector.spans.filter((span) => span.traceId === traceId)).toHaveLength(3);
});

test('what fails has the status of an error, with its code, and a call that is sent again a span of its own', async () => {
  answers = {
    'GET /api/projects/1/': reply({ status: 503, body: { detail: 'secret of the upstream' } }),
    'PATCH /api/projects/2/': disconnect,
    'GET /api/projects/3/events/': reply({ headers: { 'content-type': 'text/html' }, body: '<!doctype html>' }),
  };
  const { url } = shared;
  await ask(url, '{ project(id: 1) { name } }', { headers: secret });
  await ask(url, 'mutation { updateProject(input: { id: 2, name: "b" }) { project { name } } }', { headers: secret });
  await ask(url, '{ nothing }', { headers: secret });
  await ask(url, '{ project(id: 3) { events { nodes { id } } } }', { headers: secret });

  const spans = await spansOf(8);
  const failed = (reason: string) => ({
    attributes: { 'error.type': reason },
    status: { code: 2, message: reason },
  });
  const queries = spans.filter(({ name }) => name === 'query');
  expect(queries).toMatchObject([failed('UPSTREAM_UNAVAILABLE'), failed('UPSTREAM_INVALID_RESPONSE')]);
  expect(byName(spans, 'mutation')).toMatchObject(failed('UPSTREAM_UNAVAILABLE'));
  expect(byName(spans, 'GraphQL Operation')).toMatchObject(failed('GRAPHQL_VALIDATION_FAILED'));
  expect(byName(spans, 'PATCH /api/projects/:id/').status).toMatchObject({ code: 2 });
  const calls = spans.filter(({ name }) => name === 'GET /api/projects/:id/');
  expect(calls.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([undefined, 1]);
  for (const call of calls) {
    expect(call).toMatchObject(failed('SERVER_ERROR'));
    expect(call.attributes['http.response.status_code']).toBe(503);
  }
  const page = byName(spans, 'GET /api/projects/:id/events/');
  expect(page).toMatchObject(failed('NOT_THE_API'));
  expect(page.attributes['http.response.status_code']).toBe(200);
  expect(new Set(spans.map((span) => span.traceId)).size).toBe(4);
  expect(collector.bodies.join('')).not.toMatch(/phx_secret|secret of/);
});

test('a client that leaves, of a whole answer or of its parts, is the reason of the error', async () => {
  answers = { ...answers, 'GET /api/projects/1/dashboards/': hang };
  const { url, gateway } = shared;
  const query = '{ project(id: 1) { name ... @defer { dashboards { totalCount } } } }';
  for (const [before, accept] of ['application/json', accepts['v0.2']].entries()) {
    upstream.reset();
    const leaving = new AbortController();
    const asked = askForParts(url, query, accept, { headers: secret, signal: leaving.signal }).catch(() => undefined);
    await expect.poll(() => upstream.requests).toContain('GET /api/projects/1/dashboards/?limit=1');
    leaving.abort();
    await asked;
    await gateway.printed(new RegExp(`("codes":\\["CLIENT_LEFT"\\][^]*){${before + 1}}`));
  }
  const left = { status: { code: 2 }, attributes: { 'error.type': 'CLIENT_LEFT' } };
  const spans = await spansOf(6);
  expect(spans.filter(({ name }) => name === 'query')).toMatchObject([left, left]);
});

test.concurrent.each([
  [{ OTEL_SDK_DISABLED: 'true' }],
  [{ OTEL_TRACES_EXPORTER: 'none' }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
])('with %j nothing is traced, but the trace that came is passed on, and named in the log', async (environment) => {
  await using own = await startUpstream({ 'GET /api/projects/1/': rows.project(1) });
  const { url, gateway, stop } = await startTraced(own, collector, environment);
  await using _ = gateway;
  await ask(url, 'query Given { project(id: 1) { name } }', { headers: { ...secret, traceparent } });
  await ask(url, 'query None { __typename }', { headers: secret });
  expect(await stop()).toBe(0);
  expect(collector.requests).toEqual([]);
  expect(own.records[0]?.headers['traceparent']).toBe(traceparent);
  const lines = gateway.output().split('\n');
  expect(lines.find((line) => line.includes('Given'))).toContain(`"traceId":"${traceId}"`);
  expect(lines.find((line) => line.includes('None'))).not.toContain('traceId');
});

test.concurrent('a collector that cannot be reached, or does not answer, fails no operation, is told within 13 s, and holds up no exit', async () => {
  const silent = createServer(() => undefined);
  const port = await listen(silent);
  const told = async (OTEL_EXPORTER_OTLP_ENDPOINT: string): Promise<{ reason: string; afterMs: number }> => {
    const { url, gateway, stop } = await startTraced(upstream, collector, { OTEL_EXPORTER_OTLP_ENDPOINT });
    await using _ = gateway;
    expect((await ask(url, '{ project(id: 1) { name } }', { headers: secret })).errors).toBeUndefined();
    const [, askedAt] = await gateway.printed(/"time":(\d+),.*"msg":"operation"/);
    const [, toldAt, reason = ''] = await gateway.printed(
      /"time":(\d+),.*"reason":"([^"]*)".*"msg":"spans cannot be exported"/,
    );
    expect((await ask(url, '{ project(id: 1) { name } }', { headers: secret })).errors).toBeUndefined();
    const stoppedAt = performance.now();
    expect(await stop()).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
    return { reason, afterMs: Number(toldAt) - Number(askedAt) };
  };
  const [absent, mute] = await Promise.all([told('http://127.0.0.1:9'), told(`http://127.0.0.1:${port}`)]);
  expect(absent.reason).toContain('ECONNREFUSED');
  expect(mute.reason).toContain('timed out');
  for (const { afterMs } of [absent, mute]) expect(afterMs).toBeLessThan(13_000);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

test.concurrent('a collector that refuses spans is logged with its status, and once', async (context) => {
  await using refusing = await startUpstream(() => reply({ status: 400 }));
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  const { url, gateway, stop } = await startTraced(upstream, collector, settings);
  await using _ = gateway;
  for (let exports = 1; exports <= 3; exports += 1) {
    await ask(url, '{ project(id: 1) { name } }', { headers: secret });
    await context.expect.poll(() => refusing.requests).toHaveLength(exports);
  }
  expect(await stop()).toBe(0);
  const lines = gateway
    .output()
    .split('\n')
    .filter((text) => text.includes('"spans cannot be exported"'));
  expect(lines).toEqual([expect.stringContaining('"reason":"Bad Request","code":"400"')]);
  expect(lines.join()).not.toMatch(/stack|node_modules/);
  expect(gateway.output()).not.toContain('phx_secret');
});

test('a span has the name of its operation if it is in a listed document, else its type; the log names its trace', async () => {
  const { url, gateway } = shared;
  const persistedQuery = { version: 1, sha256Hash: hashOf(listed) };
  await ask(url, listed, { headers: secret, extensions: { persistedQuery } });
  await ask(url, 'query Unlisted { project(id: 1) { name } }', { headers: secret });
  await ask(url, 'query Refused { project(id: 1) { name } }', { headers: secret, extensions: { explain: 'all' } });
  const servers = (await spansOf(5)).filter(({ kind }) => kind === 2);
  expect(servers.map(({ name }) => name)).toEqual(['query Listed', 'query', 'query']);
  expect(servers[2]?.attributes).toMatchObject({ 'graphql.operation.name': 'Refused' });
  expect(servers[1]?.traceId).toHaveLength(32);
  for (const { traceId: own } of servers) await gateway.printed(new RegExp(`"traceId":"${own}"`));
});

test('the use of a tool is a span of the trace that the message of its agent names', async () => {
  const { url, gateway } = shared;
  const params = { name: 'First', _meta: { traceparent, tracestate: 7 } };
  await askMcp({ url }, 'tools/call', params, { edition: '2025-11-25', headers: secret });
  await askMcp({ url }, 'tools/list', {}, { edition: '2025-11-25', headers: secret });
  const spans = await spansOf(2);
  const use = byName(spans, 'query First');
  expect(use).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331', kind: 2 });
  expect(use.attributes).toMatchObject({
    'http.route': '/mcp',
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'First',
    'graphql.operation.name': 'First',
  });
  expect(byName(spans, 'GET /api/projects/:id/')).toMatchObject({ traceId, parentSpanId: use.spanId });
  const [line = ''] = await gateway.printed(/^\{.*"tool":"First".*\}$/m);
  expect(JSON.parse(line)).toMatchObject({ transport: 'mcp', tool: 'First', traceId, calls: 1 });
});

test('an operation that another one answers links to its span, and one that shares a call to that of the call', async () => {
  const { url } = shared;
  const held = Promise.withResolvers<void>();
  answers = { 'GET /api/projects/1/': () => held.promise.then(() => rows.project(1)) };
  const first = ask(url, 'query First { project(id: 1) { name } }', { headers: secret });
  await expect.poll(() => upstream.requests).toHaveLength(1);
  const equal = ask(url, 'query First { project(id: 1) { name } }', { headers: secret });
  const sharing = ask(url, 'query Sharing { project(id: 1) { timezone } }', { headers: secret });
  // The equal operation joins the first one. If a busy machine starts it too late, it joins the first one's call.
  const counters = /^gateway_(?:shared_operations|rest_shared_reads)_total (\d+)$/gm;
  const joined = async (): Promise<number> =>
    [...(await metricsOf({ url })).matchAll(counters)].reduce((sum, [, count]) => sum + Number(count), 0);
  await expect.poll(joined).toBe(2);
  held.resolve();
  await Promise.all([first, equal, sharing]);
  const spans = await spansOf(4);
  const call = byName(spans, 'GET /api/projects/:id/');
  const operations = spans.filter(({ kind }) => kind === 2);
  const links = operations.flatMap((span) => span.links);
  expect(operations.find((span) => span.attributes['graphql.operation.name'] === 'Sharing')?.links).toEqual([
    call.spanId,
  ]);
  expect(links.every((id) => id === call.spanId || id === call.parentSpanId)).toBe(true);
});
