import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { key } from '../support/gateway.ts';
import { pause } from '../support/load.ts';
import { automatic, createFolder, registration } from '../support/persisted.ts';
import { type Running, runMain } from '../support/process.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import * as rows from '../support/rows.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const answered = { data: { project: { name: 'Project 1' } } };
const routes = { 'GET /api/projects/1/': rows.project(1) };

interface Group extends AsyncDisposable {
  readonly running: Running;
  readonly url: string;
}

async function start(environment: Readonly<Record<string, string>>): Promise<Group> {
  const running = runMain([], { PORT: '0', WORKSPACE_PORT: '0', WORKERS: '2', STOP_DELAY_MS: '50', ...environment });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  return { running, url, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** Asks on a connection of its own, which the next worker in turn gets. */
async function ask(url: string, params: object, asKey = key): Promise<unknown> {
  const headers = ['content-type', 'application/json', 'authorization', `Bearer ${asKey}`];
  const { body } = await sendRaw(url, { headers, body: JSON.stringify(params) });
  return JSON.parse(body);
}

function get(url: string, path: string): Promise<RawResponse> {
  return sendRaw(url, { method: 'GET', path });
}

async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  const { body } = await get(url, '/metrics');
  return new Map([...body.matchAll(/^([^#\s]+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]));
}

async function pidsThatLogged({ running }: Group, pattern: RegExp, atLeast: number): Promise<readonly number[]> {
  for (let left = 100; ; left -= 1) {
    const lines = running.output().match(new RegExp(`^.*"pid":\\d+.*${pattern.source}.*$`, 'gm')) ?? [];
    const pids = new Set(lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])));
    if (pids.size >= atLeast || left === 0) return [...pids];
    await pause(50);
  }
}

/** The process of a worker that has answered an operation. Throws if there is none: 0 would be the test's own group. */
async function pidThatLogged(group: Group): Promise<number> {
  const [pid] = await pidsThatLogged(group, /"msg":"operation"/, 2);
  if (pid === undefined) throw new Error('expected a worker to have logged an operation');
  return pid;
}

/** Kills a worker, for the n-th time, and waits until the primary knows: connections that it is handed before are closed. */
async function kill({ running }: Group, pid: number, times: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await until(() => running.output().split('"how":"signal SIGKILL"').length > times);
}

function repeated<T>(times: number, value: T): T[] {
  return Array.from({ length: times }, () => value);
}

function startOver(upstream: Upstream, environment: Readonly<Record<string, string>> = {}): Promise<Group> {
  return start({ UPSTREAM_URL: upstream.url, ...environment });
}

test('both workers serve, whichever is asked answers the metrics of both, and one that is killed is replaced', async () => {
  await using upstream = await startUpstream(routes);
  await using group = await startOver(upstream);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(group.url, { query })));
  expect(answers).toEqual(repeated(20, answered));
  for (let times = 0; times < 4; times += 1) {
    const metrics = await metricsOf(group.url);
    expect(metrics.get('gateway_operations_total{code="none"}')).toBe(20);
    expect(metrics.get('gateway_operation_duration_seconds_count')).toBe(20);
    expect(metrics.get('gateway_workers')).toBe(2);
    expect(metrics.get('gateway_breaker_open')).toBe(0);
  }
  expect(await pidsThatLogged(group, /"msg":"operation"/, 2)).toHaveLength(2);

  // A worker that is killed is replaced, the other one serves meanwhile, and no counter goes back.
  const before = await metricsOf(group.url);
  await kill(group, await pidThatLogged(group), 1);
  expect(await ask(group.url, { query })).toEqual(answered);
  await until(async () => (await metricsOf(group.url)).get('gateway_workers') === 2);
  const after = await metricsOf(group.url);
  expect(after.get('gateway_operations_total{code="none"}')).toBe(21);
  expect(after.get('gateway_worker_restarts_total')).toBe(1);
  // Node's own of these names are gauges: what is open at that moment.
  const counters = [...before].filter(
    ([name]) => /(_total|_count|_sum|_bucket)\b/.test(name) && !name.startsWith('nodejs_active_'),
  );
  expect(counters.length).toBeGreaterThan(20);
  expect(counters.filter(([name, value]) => (after.get(name) ?? 0) < value)).toEqual([]);
});

test('what a client registers with one worker is known to both, and to one that is started later', async () => {
  await using upstream = await startUpstream(routes);
  await using group = await startOver(upstream);
  const hash = hashOf(query);
  expect(await ask(group.url, automatic(hash))).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
  expect(await ask(group.url, registration(query))).toEqual(answered);
  // A worker that is busy with its own start may miss the time that a request waits for the text; clients ask again then.
  const hits = (): Promise<unknown[]> => Promise.all(Array.from({ length: 10 }, () => ask(group.url, automatic(hash))));
  await expect.poll(hits).toEqual(repeated(10, answered));
  for (const [index, pid] of (await pidsThatLogged(group, /"msg":"operation"/, 2)).entries()) {
    await kill(group, pid, index + 1);
    await until(async () => {
      const metrics = await metricsOf(group.url);
      return metrics.get('gateway_workers') === 2 && metrics.get('gateway_worker_restarts_total') === index + 1;
    });
  }
  await expect.poll(hits).toEqual(repeated(10, answered));
});

test('a connection that a worker is handed when it dies is closed, and no client waits for it', async () => {
  await using upstream = await startUpstream(routes);
  await using group = await startOver(upstream);
  await Promise.all(Array.from({ length: 10 }, () => ask(group.url, { query })));
  const pid = await pidThatLogged(group);
  // From here on it takes nothing of what it is handed, and is handed one connection.
  process.kill(pid, 'SIGSTOP');
  let answers = 0;
  const asked = Array.from({ length: 6 }, async () => {
    const answer = await ask(group.url, { query });
    answers += 1;
    return answer;
  });
  const settled = Promise.allSettled(asked);
  await until(() => answers === 5);
  await kill(group, pid, 1);
  const outcomes = (await settled).map((one) => (one.status === 'fulfilled' ? one.value : 'closed'));
  expect(outcomes.filter((outcome) => outcome !== 'closed')).toEqual(repeated(5, answered));
  expect(await ask(group.url, { query })).toEqual(answered);
});

test('a termination signal to the primary: no worker is ready any more, what is in flight is answered, exit code 0', async () => {
  await using upstream = await startUpstream(routes, { hold: 100 });
  await using group = await startOver(upstream, { STOP_DELAY_MS: '500' });
  const keys = Array.from({ length: 8 }, (_, number) => `phx_${number}`);
  const asked = keys.map((name) =>
    sendRaw(group.url, {
      headers: ['content-type', 'application/json', 'authorization', `Bearer ${name}`],
      body: JSON.stringify({ query }),
    }),
  );
  await until(() => upstream.requests.length === keys.length);
  expect((await get(group.url, '/readyz')).status).toBe(200);
  group.running.child.kill('SIGTERM');
  await until(async () => (await get(group.url, '/readyz')).status === 503);
  const ready = await Promise.all(Array.from({ length: 6 }, () => get(group.url, '/readyz')));
  expect(ready.map(({ status }) => status)).toEqual(Array(6).fill(503));
  upstream.release();
  const answers = await Promise.all(asked);
  expect(answers.map(({ body }) => body)).toEqual(keys.map(() => '{"data":{"project":{"name":"Project 1"}}}'));
  expect(await group.running.exit()).toBe(0);
  await expect(get(group.url, '/readyz')).rejects.toThrow('ECONNREFUSED');
  expect(new Set(await pidsThatLogged(group, /"msg":"operation"/, 2))).toHaveProperty('size', 2);
});

test('the embedded workspace is one, whichever worker is asked, and a second signal ends it at once', async () => {
  await using group = await start({ STOP_DELAY_MS: '60000' });
  const [, demoKey = ''] = await group.running.printed(/^Demo key +(\S+)/m);
  const send = async (text: string): Promise<unknown> => {
    const headers = ['content-type', 'application/json', 'authorization', `Bearer ${demoKey}`];
    const { body } = await sendRaw(group.url, { headers, body: JSON.stringify({ query: text }) });
    return JSON.parse(body);
  };
  await send('mutation { updateProject(input: { id: 1, name: "Renamed" }) { project { id } } }');
  const names = await Promise.all(Array.from({ length: 6 }, () => send(query)));
  expect(names).toEqual(repeated(6, { data: { project: { name: 'Renamed' } } }));
  expect(await pidsThatLogged(group, /"msg":"operation"/, 2)).toHaveLength(2);
  group.running.child.kill('SIGTERM');
  await until(async () => (await get(group.url, '/readyz')).status === 503);
  group.running.child.kill('SIGTERM');
  expect(await group.running.exit()).toBe(1);
  await until(() =>
    get(group.url, '/readyz').then(
      () => false,
      () => true,
    ),
  );
});

test('SIGHUP to the primary has every worker read the manifests again', async () => {
  using folder = createFolder();
  const files = folder.write('manifest.json', { [hashOf(query)]: query });
  await using upstream = await startUpstream(routes);
  await using group = await startOver(upstream, { PERSISTED_DOCUMENTS: files });
  group.running.child.kill('SIGHUP');
  expect(await pidsThatLogged(group, /persisted documents were read again/, 2)).toHaveLength(2);
  // Asked for by one worker, it is unused by none.
  await ask(group.url, { documentId: hashOf(query) });
  const metrics = await metricsOf(group.url);
  expect(metrics.get('gateway_documents_unused')).toBe(0);
  expect(metrics.get(`gateway_document_hits_total{document="${hashOf(query)}"}`)).toBe(1);
});

test.concurrent('a port that is taken is one clear line, and exit code 1', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const secret = 'a secret that is hard to guess';
  const environment = { WORKERS: '2', PORT: port, UPSTREAM_URL: 'http://127.0.0.1:1', CURSOR_SECRET: secret };
  await using running = runMain([], environment);
  expect(await running.exit()).toBe(1);
  expect(running.output()).toMatch(/^error: PORT: .*EADDRINUSE.*\n$/);
  other.close();
});

test.concurrent('a manifest that cannot be used is one clear line, and exit code 2', async () => {
  using folder = createFolder();
  const files = folder.write('manifest.json', '{');
  await using running = runMain([], { WORKERS: '2', PORT: '0', WORKSPACE_PORT: '0', PERSISTED_DOCUMENTS: files });
  expect(await running.exit()).toBe(2);
  expect(running.output()).toMatch(/^error: .*manifest\.json.*\n$/);
});

test.concurrent('workers that crash again and again end it, with one line that says so and exit code 1', {
  timeout: 60_000,
}, async () => {
  // It ends soon after it has told the primary that it listens.
  const code = `if (process.argv[2] === 'worker') {
    const { send } = process;
    process.send = (message, ...others) => {
      if (message.rpc?.some(({ call }) => call === 'listening')) setTimeout(() => process.exit(7), 50);
      return send.call(process, message, ...others);
    };
  }`;
  const hook = `--import=data:text/javascript,${encodeURIComponent(code)}`;
  await using running = runMain([], { WORKERS: '2', PORT: '0', WORKSPACE_PORT: '0', NODE_OPTIONS: hook });
  expect(await running.exit()).toBe(1);
  expect(running.output()).toMatch(/^error: workers end again and again, the last one with code 7$/m);
});

test.concurrent('a worker is started by the gateway only', async () => {
  await using running = runMain(['worker']);
  expect(await running.exit()).toBe(2);
  expect(running.output()).toMatch(/^error: worker: .*\n$/);
});

test.concurrent('a worker that hangs keeps no write of another waiting for long, and the log says so', async () => {
  await using upstream = await startUpstream({ ...routes, 'PATCH /api/projects/1/': rows.project(1) });
  await using group = await start({ UPSTREAM_URL: upstream.url, CACHE_TTL: 'projects=600' });
  await Promise.all(Array.from({ length: 10 }, () => ask(group.url, { query })));
  const pid = await pidThatLogged(group);
  process.kill(pid, 'SIGSTOP');
  const write = { query: 'mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }' };
  // Of two connections in turn, the worker that hangs is handed one.
  const writes = Promise.allSettled([ask(group.url, write), ask(group.url, write)]);
  await group.running.printed(/"workers":\[\d\],.*"msg":"workers do not answer/);
  await kill(group, pid, 1);
  expect(await writes).toContainEqual(expect.objectContaining({ status: 'fulfilled' }));
});

test('no worker answers from its cache what is older than a write that another one has answered', async () => {
  let name = 'Change 0';
  let changes = 0;
  await using upstream = await startUpstream({
    'GET /api/projects/1/': () => rows.project(1, { name }),
    'PATCH /api/projects/1/': () => {
      changes += 1;
      name = `Change ${changes}`;
      return rows.project(1, { name });
    },
  });
  await using group = await start({ UPSTREAM_URL: upstream.url, CACHE_TTL: 'projects=600' });
  const write = { query: 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }' };
  for (let round = 1; round <= 10; round += 1) {
    await ask(group.url, write);
    for (let turn = 0; turn < 8; turn += 1) {
      expect(await ask(group.url, { query })).toEqual({ data: { project: { name: `Change ${round}` } } });
    }
  }
  const metrics = await metricsOf(group.url);
  expect(metrics.get('gateway_cache_reads_total{noun="projects",result="hit"}')).toBeGreaterThan(0);
  expect(metrics.get('gateway_reused_operations_total')).toBeGreaterThan(0);
  // A write waits for a worker that hangs, and goes on when that one ends. Of two connections in turn the one that
  // hangs is handed one; the later question is answered by the other worker, which then has its write.
  const pid = await pidThatLogged(group);
  process.kill(pid, 'SIGSTOP');
  const writes = Promise.allSettled([ask(group.url, write), ask(group.url, write)]);
  await ask(group.url, { query });
  await kill(group, pid, 1);
  const written = { data: { updateProject: { project: { name: 'Change 11' } } } };
  expect(await writes).toContainEqual({ status: 'fulfilled', value: written });
  expect(changes).toBe(11);
  expect(await ask(group.url, { query })).toEqual({ data: { project: { name: 'Change 11' } } });
});

test('no worker answers from its cache what is older than a write of a worker that was killed before it was answered', async () => {
  const keys = ['one', 'two', 'three', 'four'];
  const written = new Set<string>();
  const answer = Promise.withResolvers<void>();
  await using upstream = await startUpstream(async ({ method, headers }) => {
    if (method === 'PATCH') await answer.promise;
    const name = written.has(headers.authorization ?? '') ? 'New' : 'Old';
    return rows.project(1, { name });
  });
  upstream.release();
  const environment = { UPSTREAM_URL: upstream.url, CACHE_TTL: 'projects=600', OPERATION_DEADLINE_MS: '2000' };
  await using group = await start(environment);
  await Promise.all(repeated(8, 0).map(() => ask(group.url, { query })));
  const pid = await pidThatLogged(group);
  const write = { query: 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }' };
  const cut: string[] = [];
  const writes = keys.map((of) => ask(group.url, write, of).catch(() => cut.push(of)));
  await until(() => upstream.requests.filter((request) => request.startsWith('PATCH')).length === keys.length);
  await kill(group, pid, 1);
  await until(() => cut.length > 0);
  const [of = ''] = cut;
  const names = async (): Promise<readonly string[]> =>
    Promise.all(repeated(6, 0).map(async () => JSON.stringify(await ask(group.url, { query }, of))));
  expect((await names()).join()).toContain('Old');
  written.add(`Bearer ${of}`);
  await until(async () => !(await names()).join().includes('Old'));
  answer.resolve();
  await Promise.all(writes);
});
