import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { inForm } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { type BinaryResponse, type RawRequest, sendForBytes } from '../support/raw-http.ts';
import { refusal, reply } from '../support/replies.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';
import { requests } from './requests.ts';

/** `TRANSPORT_CASES=100000 TRANSPORT_SEED=1 npx vitest run test/property/transports` for a long run. */
const numRuns = Number(process.env['TRANSPORT_CASES'] ?? inForm(500, 2000));
const seed = Number(process.env['TRANSPORT_SEED'] ?? Date.now() % 2 ** 31);

/** Headers that describe the connection or the moment; every other one must be the same. */
const incidental: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

/** An answer as a client sees it. */
function seen({ status, headers, body }: BinaryResponse): { readonly status: number } & Record<string, unknown> {
  const coding = headers['content-encoding'];
  const decoded = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
  const told = Object.entries(headers).filter(([name]) => !incidental.has(name));
  const requestId = headers['x-request-id'];
  return {
    status,
    headers: {
      ...Object.fromEntries(told.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      // Made up where the client sent none.
      'x-request-id': requestId === 'fixed-1' || typeof requestId !== 'string' ? requestId : requestId.length,
    },
    body: decoded.toString(),
  };
}

test(`the fast path and Yoga answer alike (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  await using upstream = await startUpstream(
    {
      'GET /api/projects/1/': rows.project(1),
      'GET /api/projects/403/': refusal(403, 'permission_denied', 'Missing scope.'),
      'GET /api/projects/1/dashboards/': { count: 1, next: null, results: [rows.listedDashboard(1)] },
      'GET /api/projects/1/dashboards/1/': rows.dashboard(1),
      'GET /api/projects/1/events/': { next: null, results: Array.from({ length: 20 }, (_, id) => rows.event(id)) },
      'POST /api/projects/': reply({ status: 201, body: rows.project(2) }),
      'DELETE /api/projects/1/': reply({ status: 204 }),
    },
    { hold: 1 },
  );
  const options = {
    graphiql: false,
    explain: true,
    corsOrigins: ['https://app.example'],
    bodyLimits: { bytes: 4096, jsonDepth: 20 },
    persisted: { getMaxAge: 60 },
  };
  await using fast = await startGateway(upstream, { ...options, fastPath: true });
  await using yoga = await startGateway(upstream, { ...options, fastPath: false });
  const statuses = new Set<number>();
  const ask = (url: string, request: RawRequest) => sendForBytes(url, request).then(seen);
  await assert(
    asyncProperty(requests, async (request) => {
      const [byFast, byYoga] = await Promise.all([ask(fast.url, request), ask(yoga.url, request)]);
      statuses.add(byFast.status);
      expect(byFast).toEqual(byYoga);
    }),
    { numRuns, seed },
  );
  expect(yoga.reported).toEqual(fast.reported);
  // Short runs may miss one.
  if (numRuns < 2000) return;
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 204, 400, 404, 405, 406, 413, 415]);
});
