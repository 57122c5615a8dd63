import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { inForm } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { ask, key } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { as, together } from '../support/load.ts';
import { accepts, askForParts, mergeParts } from '../support/parts.ts';
import { type Running, runMain } from '../support/process.ts';
import { hang } from '../support/replies.ts';
import * as rows from '../support/rows.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const read = '{ project(id: 1) { name } }';

async function startOver(upstream: Upstream, environment: Readonly<Record<string, string>> = {}) {
  const gateway = runMain([], { PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', ...environment });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  return { gateway, url };
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

function stop({ child }: Running): void {
  child.kill('SIGTERM');
}

test('a termination signal with 1,000 operations in flight: 1,000 answers, then exit code 0', {
  timeout: 60_000,
}, async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/:id/': rows.project(1) }, { hold: 2000 });
  const { gateway, url } = await startOver(upstream, { OPERATION_DEADLINE_MS: '60000' });
  await using _ = gateway;
  const asked = together(1000, 1000, (index) =>
    ask(url, `{ project(id: ${index + 1}) { name } }`, as(`phx_${index % 50}`)),
  );
  await until(async () => (await metric(url, 'gateway_operations_in_flight')) === 1000);
  stop(gateway);
  await until(async () => (await fetch(new URL('/readyz', url))).status === 503);
  upstream.release();
  const answers = await asked;
  expect(answers.map(({ status }) => status)).toEqual(Array(1000).fill(200));
  expect(answers.filter(({ errors }) => errors !== undefined)).toEqual([]);
  expect(new Set(answers.map(({ headers }) => headers.get('connection')))).toEqual(new Set(['close']));
  expect(upstream.requests).toHaveLength(1000);
  expect(await gateway.exit()).toBe(0);
});

test.concurrent.each(['1', '2'])(
  'a termination signal while it starts, with WORKERS=%s: what is in flight is answered, then exit code 0',
  async (workers) => {
    const held: (() => void)[] = [];
    // It leaves the question that each start asks without an answer.
    const api = createServer(({ url }, response) => {
      if (url === '/api/projects/1/') held.push(() => response.end(JSON.stringify(rows.project(1))));
    });
    const [apiPort, port] = [await listen(api), await freePort()];
    const environment = {
      WORKERS: workers,
      PORT: `${port}`,
      UPSTREAM_URL: `http://127.0.0.1:${apiPort}`,
      STOP_DELAY_MS: '50',
    };
    await using gateway = runMain([], environment);
    const url = `http://127.0.0.1:${port}/graphql`;
    const statusOf = (path: string): Promise<number> =>
      fetch(new URL(path, url)).then(
        ({ status }) => status,
        () => 0,
      );
    await until(async () => (await statusOf('/readyz')) === 200);
    const asked = ask(url, read);
    await until(() => held.length === 1);
    stop(gateway);
    await until(async () => (await statusOf('/readyz')) !== 200);
    held.forEach((answer) => answer());
    expect((await asked).data).toEqual({ project: { name: 'Project 1' } });
    expect(await gateway.exit()).toBe(0);
    api.close();
  },
);

test.concurrent('a termination signal while a part of an answer is pending: it comes, then exit code 0', async () => {
  const release = Promise.withResolvers<void>();
  await using upstream = await startUpstream({
    'GET /api/projects/1/': rows.project(1),
    'GET /api/projects/1/dashboards/': () => release.promise.then(() => ({ count: 1, next: null, results: [] })),
  });
  upstream.release();
  const { gateway, url } = await startOver(upstream);
  await using _ = gateway;
  const query = '{ project(id: 1) { name ... @defer { dashboards { totalCount } } } }';
  const { parts } = await askForParts(url, query, accepts['v0.2']);
  const first = await parts.next();
  expect(first.value).toMatchObject({ data: { project: { name: 'Project 1' } }, hasNext: true });
  stop(gateway);
  // It takes no connection any more, and closes those on which nothing is under way.
  const isClosed = (): Promise<boolean> =>
    fetch(url)
      .then(() => false)
      .catch(() => true);
  await until(isClosed);
  release.resolve();
  const answer = mergeParts([first.value, ...(await Array.fromAsync(parts))]);
  expect(answer).toEqual({ data: { project: { name: 'Project 1', dashboards: { totalCount: 1 } } }, errors: [] });
  expect(await gateway.exit()).toBe(0);
});

test.concurrent('it is not ready any more at once, takes requests for a while longer, each on a last connection, and then none', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': rows.project(1) });
  const { gateway, url } = await startOver(upstream, { STOP_DELAY_MS: '3000' });
  await using _ = gateway;
  const askBoth = (): Promise<readonly unknown[]> =>
    Promise.all(
      ['application/json', 'text/event-stream'].map(async (accept) => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, accept };
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: read }) });
        return [answer.status, answer.headers.get('connection'), await answer.text()];
      }),
    );
  const answered = (connection: string): readonly unknown[] => {
    const whole = expect.stringContaining('{"data":{"project":{"name":"Project 1"}}}') as unknown;
    return [1, 2].map(() => [200, connection, whole]);
  };
  expect((await fetch(new URL('/readyz', url))).status).toBe(200);
  expect(await askBoth()).toEqual(answered('keep-alive'));
  stop(gateway);
  await until(async () => (await fetch(new URL('/readyz', url))).status === 503);
  expect(await askBoth()).toEqual(answered('close'));
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
  expect(await gateway.exit()).toBe(0);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test.concurrent('a hung upstream cannot hold it past 15 seconds', { timeout: 60_000 }, async () => {
  await using upstream = await startUpstream(() => hang);
  upstream.release();
  const { gateway, url } = await startOver(upstream, { OPERATION_DEADLINE_MS: '600000' });
  await using _ = gateway;
  const asked = ask(url, read).catch(() => undefined);
  await until(() => upstream.requests.length === 1);
  const stoppedAt = performance.now();
  stop(gateway);
  expect(await gateway.exit()).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(inForm(40_000, 18_000));
  await asked;
});

/** Code that runs in the gateway's process before its own, as an option of node's. */
function before(code: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

test.concurrent('an unhandled rejection is counted and logged, and harms no request', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': rows.project(1) });
  const lose = "process.on('SIGUSR2', () => { Promise.reject(new Error('lost promise')); })";
  const { gateway, url } = await startOver(upstream, before(lose));
  await using _ = gateway;
  gateway.child.kill('SIGUSR2');
  await until(async () => (await metric(url, 'gateway_unexpected_errors_total')) === 1);
  expect((await ask(url, read)).errors).toBeUndefined();
  stop(gateway);
  expect(await gateway.exit()).toBe(0);
  expect(gateway.output()).toMatch(/"level":50.*lost promise.*unhandled rejection/);
});

test.concurrent('an uncaught exception is logged, what is in flight is answered, and it exits with 1', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': rows.project(1) }, { hold: 2 });
  const fault = "process.on('SIGUSR2', () => { throw new Error('a fault of ours'); })";
  const { gateway, url } = await startOver(upstream, before(fault));
  await using _ = gateway;
  const asked = ask(url, read);
  await until(() => upstream.requests.length === 1);
  gateway.child.kill('SIGUSR2');
  await until(async () => (await fetch(new URL('/readyz', url))).status === 503);
  upstream.release();
  expect((await asked).data).toEqual({ project: { name: 'Project 1' } });
  expect(await gateway.exit()).toBe(1);
  expect(gateway.output()).toMatch(/"level":60.*a fault of ours.*uncaught exception/);
});
