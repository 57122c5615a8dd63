import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

test.each(['1', '2'])('with METRICS_PORT metrics are there, and nowhere else: WORKERS=%s', async (WORKERS) => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
  const port = await freePort();
  const settings = { PORT: '0', METRICS_PORT: String(port), UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', WORKERS };
  await using gateway = runMain([], settings);
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  await ask(url, '{ project(id: 1) { name } }');
  const scraped = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect([scraped.status, await scraped.text()]).toEqual([
    200,
    expect.stringContaining('gateway_operations_total{code="none"} 1'),
  ]);
  expect((await fetch(new URL('/metrics', url))).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/graphql`)).status).toBe(404);
  gateway.child.kill('SIGTERM');
  expect(await gateway.exit()).toBe(0);
  expect(gateway.output()).toContain('warning: CURSOR_SECRET: expected a secret that cannot be guessed');
});

test('a METRICS_PORT that is taken stops the start, and is named', async () => {
  await using upstream = await startUpstream({});
  const taken = new URL(upstream.url).port;
  await using gateway = runMain([], { PORT: '0', METRICS_PORT: taken, UPSTREAM_URL: upstream.url });
  expect(await gateway.exit()).toBe(1);
  expect(gateway.output()).toContain('METRICS_PORT: expected a port that is free at HOST');
});
