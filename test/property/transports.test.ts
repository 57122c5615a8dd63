import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { inForm, seedOf } from '../support/form.ts';
import { type RawRequest, sendForBytes } from '../support/raw-http.ts';
import { refusal, reply } from '../support/replies.ts';
import * as rows from '../support/rows.ts';
import { type Accepted, resultIn } from '../support/transports.ts';
import { requests } from './requests.ts';

/** `TRANSPORT_CASES=100000 TRANSPORT_SEED=1 npx vitest run test/property/transports` for a long run. */
const numRuns = Number(process.env['TRANSPORT_CASES'] ?? inForm(500, 2000));
const seed = seedOf('TRANSPORT_SEED');

/** Headers that describe the connection, the moment or the form of the body; every other one must be the same. */
const incidental: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** An answer as a client sees it, however it is written. */
interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly result: string;
}

/** A request of a client that takes this media type alone. */
async function ask(url: string, { headers = [], ...request }: RawRequest, accept: Accepted): Promise<Seen> {
  const others = headers.flatMap((name, at) =>
    at % 2 === 0 && name !== 'accept' ? [name, headers[at + 1] ?? ''] : [],
  );
  const response = await sendForBytes(url, { ...request, headers: [...others, 'accept', accept] });
  const { status, body } = response;
  const coding = response.headers['content-encoding'];
  const decoded = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
  const told = Object.entries(response.headers).filter(([name]) => !incidental.has(name));
  const requestId = response.headers['x-request-id'];
  return {
    status,
    headers: {
      ...Object.fromEntries(told.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      // Made up if the client sent none.
      'x-request-id': requestId === 'fixed-1' || typeof requestId !== 'string' ? requestId : requestId.length,
    },
    result: request.method === 'HEAD' ? '' : resultIn(response.headers, decoded.toString()),
  };
}

test(`streams answer what single documents answer (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const { gateway } = await startBoth(
    {
      'GET /api/projects/1/': rows.project(1),
      'GET /api/projects/403/': refusal(403, 'permission_denied', 'Missing scope.'),
      'GET /api/projects/1/dashboards/': { count: 1, next: null, results: [rows.listedDashboard(1)] },
      'GET /api/projects/1/dashboards/1/': rows.dashboard(1),
      'GET /api/projects/1/events/': { next: null, results: Array.from({ length: 20 }, (_, id) => rows.event(id)) },
      'POST /api/projects/': reply({ status: 201, body: rows.project(2) }),
      'DELETE /api/projects/1/': reply({ status: 204 }),
    },
    {
      graphiql: false,
      explain: true,
      corsOrigins: ['https://app.example'],
      bodyLimits: { bytes: 4096, jsonDepth: 20 },
      persisted: { getMaxAge: 60 },
    },
    { hold: 1 },
  );
  const statuses = new Set<number>();
  await assert(
    asyncProperty(requests, async (request) => {
      const as = (accept: Accepted): Promise<Seen> => ask(gateway.url, request, accept);
      // One after the other: of two at a time one may share the reads of the other, and tell that they cost it none.
      const json = await as('application/json');
      const events = await as('text/event-stream');
      const response = await as('application/graphql-response+json');
      const parts = await as('multipart/mixed');
      statuses.add(json.status);
      expect(events).toEqual(json);
      expect(parts).toEqual(response);
    }),
    { numRuns, seed },
  );
  expect(gateway.reported).toEqual([]);
  // Short runs may miss one.
  if (numRuns < 2000) return;
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 204, 400, 404, 405, 413, 415]);
});
