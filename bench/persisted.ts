/**
 * Measures a request by id and as free text: the CPU time of the gateway's process for one operation, in rounds that
 * take turns. Variables are new each time. Upstream and clients run in a process of their own.
 *
 *   node bench/persisted.ts
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../src/gateway.ts';
import { startServer } from '../src/server/server.ts';
import { readConfig } from '../src/settings/config.ts';
import { type Way, ways } from './ways.ts';

/**
 * A document as app developers write them: fragments beside the components that need them. As it is asked it costs no
 * REST call, so that what is measured is the way to the document.
 */
const query = `query ProjectSettingsScreen($project: ID!, $withProject: Boolean! = false) {
  organization(id: "018f3c5e-7a31-7c11-9d2b-0e5a4c1f6b77") {
    id
    upstreamId
  }
  project(id: $project) @include(if: $withProject) {
    id
    ...ProjectHeader
    ...ProjectTracking
    ...ProjectRecording
    ...ProjectDisplay
    dashboards(first: 10) {
      totalCount
      nodes {
        ...DashboardCard
      }
    }
  }
}

fragment ProjectHeader on Project {
  name
  timezone
  isDemo
  createdAt
  updatedAt
  weekStartDay
  organization {
    id
  }
}

fragment ProjectTracking on Project {
  appUrls
  anonymizeIps
  testAccountFilters
  testAccountFiltersDefaultChecked
  pathCleaningFilters
  dataAttributes
  autocaptureOptOut
  autocaptureExceptionsOptIn
  autocaptureExceptionsErrorsToIgnore
}

fragment ProjectRecording on Project {
  sessionRecordingOptIn
  sessionRecordingSampleRate
  sessionRecordingMinimumDurationMilliseconds
  sessionRecordingLinkedFlag
  sessionRecordingNetworkPayloadCaptureConfig
  captureConsoleLogOptIn
  capturePerformanceOptIn
  recordingDomains
}

fragment ProjectDisplay on Project {
  personDisplayNameProperties
  liveEventsColumns
  hasCompletedOnboardingFor
  surveysOptIn
}

fragment DashboardCard on Dashboard {
  id
  name
  description
  pinned
  createdAt
  tags
  createdBy {
    firstName
    lastName
  }
}`;
const rounds = 200;
const warmUpRounds = 20;
const operationsPerRound = 200;

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const files = join(folder, 'page.graphql');
writeFileSync(files, query);
const child = fork(new URL('plan-load.ts', import.meta.url), [query]);
const [upstreamUrl] = (await once(child, 'message')).map(String);
const config = readConfig({ PERSISTED_DOCUMENTS: files });
const gateway = await createGateway({
  ...config,
  persisted: { files },
  upstreamUrl: upstreamUrl ?? '',
  cursorSecret: 'secret of the benchmark',
  report: console.error,
  log: () => undefined,
});
const server = await startServer(gateway, {
  ...{ port: 0, host: '127.0.0.1', stopDelayMs: 0, drainMs: 100 },
  ...{ compression: false, metrics: true, log: () => undefined },
});

const costs: Record<Way, number[]> = { 'GET text': [], 'GET id': [], 'POST text': [], 'POST id': [] };
// Before the first round that counts, the code is compiled.
for (let round = -warmUpRounds; round < rounds; round += 1) {
  for (const way of ways) {
    const cost = await microsecondsOf(way);
    if (round >= 0) costs[way].push(cost);
  }
}
child.kill();
await server.stop();
rmSync(folder, { recursive: true });

for (const way of ways) console.log(`${way.padEnd(10)} ${least(costs[way]).toFixed(1)} µs of CPU in the gateway`);
for (const method of ['GET', 'POST'] as const) {
  const [text, id] = [least(costs[`${method} text`]), least(costs[`${method} id`])];
  console.log(`${method} by id saves ${(text - id).toFixed(1)} µs, ${((1 - id / text) * 100).toFixed(1)} %`);
}

/** CPU time of this process's thread for each operation of a round, all of the gateway included. */
async function microsecondsOf(way: Way): Promise<number> {
  const before = process.threadCpuUsage();
  child.send({ url: `${server.url}/graphql`, count: operationsPerRound, way });
  await once(child, 'message');
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / operationsPerRound;
}

/** The mean of the quarter of the rounds that cost least: what else runs on the machine can only add to a round. */
function least(numbers: readonly number[]): number {
  const quarter = numbers.toSorted((a, b) => a - b).slice(0, Math.ceil(numbers.length / 4));
  return quarter.reduce((sum, cost) => sum + cost, 0) / quarter.length;
}
