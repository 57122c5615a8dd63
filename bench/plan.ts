/**
 * Measures planning: the CPU time of a warm plan beside that of the whole operation in the gateway's process, for an
 * operation of 30 fields whose variables are new each time. Upstream and clients run in a process of their own.
 *
 *   node bench/plan.ts
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createGateway } from '../src/gateway.ts';
import { createCursorCodec } from '../src/graphql/cursors.ts';
import { Cost, Costs } from '../src/operation/cost.ts';
import { createPrepare } from '../src/operation/document.ts';
import { createCompilerSchema, createSchema } from '../src/schema.ts';
import { startServer } from '../src/server/server.ts';
import { readConfig } from '../src/settings/config.ts';

const query = `query Page($project: ID!, $first: Int!) {
  project(id: $project) {
    id name timezone isDemo createdAt updatedAt weekStartDay
    organization { id }
    dashboards(first: $first) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { id name description pinned createdAt tags createdBy { firstName lastName } }
    }
    events(first: 5) { nodes { id event timestamp distinctId } }
  }
}`;

const config = readConfig({});
const secret = 'secret of the benchmark';

const operation = await microsecondsOfOperation(5000);
const plan = microsecondsOfPlan(50_000);
console.log(`operation  ${operation.toFixed(1)} µs of CPU in the gateway`);
console.log(`plan       ${plan.toFixed(1)} µs, ${((plan / operation) * 100).toFixed(1)} % of it`);

/** CPU time of this process for each operation, all of the gateway included. */
async function microsecondsOfOperation(count: number): Promise<number> {
  const child = fork(new URL('plan-load.ts', import.meta.url), [query]);
  const [upstreamUrl] = (await once(child, 'message')).map(String);
  const gateway = await createGateway({
    ...config,
    upstreamUrl: upstreamUrl ?? '',
    cursorSecret: secret,
    report: console.error,
    log: () => undefined,
  });
  const server = await startServer(gateway, {
    ...{ port: 0, host: '127.0.0.1', stopDelayMs: 0, drainMs: 100 },
    ...{ compression: false, metrics: true, log: () => undefined },
  });
  const load = async (): Promise<void> => {
    child.send({ url: `${server.url}/graphql`, count, way: 'POST text' });
    await once(child, 'message');
  };
  await load();
  const before = process.cpuUsage();
  await load();
  const { user, system } = process.cpuUsage(before);
  child.kill();
  await server.stop();
  return (user + system) / count;
}

/** CPU time of a plan, as it is made for an operation whose bound is beyond a limit, or whose client asks for it. */
function microsecondsOfPlan(count: number): number {
  const schemas = { schema: createSchema(), compilerSchema: createCompilerSchema() };
  const prepare = createPrepare({
    schemas,
    preparedBytes: 2 ** 20,
    limits: config.documentLimits,
    introspection: true,
  });
  const costs = new Costs({
    schema: schemas.schema,
    cursors: createCursorCodec(secret),
    ...config,
    explain: true,
    keyFaultOf: () => undefined,
  });
  const run = (): void => {
    for (let index = 0; index < count; index += 1) {
      const variables = { project: `${index % 1000}`, first: 10 };
      const params = { query, variables, operationName: undefined, extensions: { explain: 'plan' }, ids: {} };
      const prepared = prepare(query, undefined);
      const coerced = prepared.coerce(variables);
      void new Cost({ document: { prepared }, params, coerced, request: { caller: undefined } }, costs);
    }
  };
  run();
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
