import { Agent, request as sendRequest } from 'node:http';
import { expect, test } from 'vitest';
import { inForm, measured } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { hasHaproxy, startHaproxy } from '../support/haproxy.ts';
import { pause } from '../support/load.ts';
import { type Running, runMain } from '../support/process.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** Clients at a time. */
const clientCount = inForm(8, 50);

const quiet = { LOG_LEVEL: 'warn' };
const body = JSON.stringify({ query: '{ project(id: 1) { name } }' });
const headers = { 'content-type': 'application/json', authorization: 'Bearer phx_test' };

/** Asks over a connection that is kept if it may be; resolves to the status, or to the code of the error. */
function outcomeOf(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = sendRequest(url, { method: 'POST', agent, headers }, (response) => {
      response.on('end', () => resolve(String(response.statusCode))).resume();
    });
    request.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    request.end(body);
  });
}

/** Asks again and again until nothing listens any more; every other outcome by how often it came. */
async function insist(url: string, outcomes: Map<string, number>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    const outcome = await outcomeOf(url, agent);
    if (outcome === 'ECONNREFUSED') break;
    count(outcomes, outcome);
  }
  agent.destroy();
}

async function stop(gateway: Running): Promise<number | null> {
  gateway.child.kill('SIGTERM');
  return gateway.exit();
}

function count(outcomes: Map<string, number>, name: string): void {
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
}

test.each(['1', '2'])(
  'clients that never rest meet no reset while it stops, with %s of its processes',
  { timeout: 600_000 },
  async (WORKERS) => {
    await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
    upstream.release();
    let answered = 0;
    for (let stops = 0; stops < inForm(1, 20); stops += 1) {
      const settings = { PORT: '0', UPSTREAM_URL: upstream.url, STOP_DELAY_MS: '200', WORKERS };
      await using gateway = runMain([], { ...quiet, ...settings });
      const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
      const outcomes = new Map<string, number>();
      const clients = Array.from({ length: clientCount }, () => insist(url, outcomes));
      await pause(500);
      const exitCode = await stop(gateway);
      await Promise.all(clients);
      expect([exitCode, [...outcomes.keys()]]).toEqual([0, ['200']]);
      answered += outcomes.get('200') ?? 0;
    }
    measured(`stops of ${WORKERS}`, { answered, resets: 0 });
  },
);

test.skipIf(!hasHaproxy)('clients of HAProxy notice no stop of a gateway behind it', { timeout: 600_000 }, async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
  upstream.release();
  const ports = [await freePort(), await freePort()];
  const start = async (port: number | undefined): Promise<Running> => {
    const settings = { PORT: String(port), UPSTREAM_URL: upstream.url, STOP_DELAY_MS: `${inForm(1500, 3000)}` };
    const gateway = runMain([], { ...quiet, ...settings });
    await gateway.printed(/^Gateway +/m);
    return gateway;
  };
  await using stays = await start(ports[0]);
  const first = await start(ports[1]);
  await using haproxy = await startHaproxy(ports);
  const outcomes = new Map<string, number>();
  const end = new AbortController();
  const clients = Array.from({ length: clientCount }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!end.signal.aborted) count(outcomes, await outcomeOf(`${haproxy.url}/graphql`, agent));
    agent.destroy();
  });
  let leaving = first;
  for (let stops = 0; stops < inForm(1, 20); stops += 1) {
    await using gateway = leaving;
    await pause(500);
    expect(await stop(gateway)).toBe(0);
    leaving = await start(ports[1]);
  }
  await using _ = leaving;
  end.abort();
  await Promise.all(clients);
  expect([...outcomes.keys()]).toEqual(['200']);
  expect(await stop(stays)).toBe(0);
});
