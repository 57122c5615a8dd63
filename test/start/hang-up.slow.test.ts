import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { key } from '../support/gateway.ts';
import { createFolder } from '../support/persisted.ts';
import { type Running, runMain } from '../support/process.ts';
import * as rows from '../support/rows.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
const secret = '0123456789abcdef';

/** True if the process takes SIGHUP (Linux: the lowest bit of the mask). Before its first JavaScript it cannot. */
function takesHangUps(pid: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return BigInt(`0x${mask}`) % 2n === 1n;
}

function hasChildren(pid: number): boolean {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '';
}

/** Sends SIGHUP every 50 ms from the first moment at which it is taken, until the gateway has started. */
async function startUnderHangUps(running: Running): Promise<string> {
  const pid = running.child.pid ?? 0;
  await until(() => takesHangUps(pid));
  expect([running.output(), hasChildren(pid)]).toEqual(['', false]);
  const timer = setInterval(() => running.child.kill('SIGHUP'), 50);
  running.child.kill('SIGHUP');
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m).finally(() => clearInterval(timer));
  return url;
}

test.skipIf(process.platform !== 'linux')(
  'hang-ups during the start of four workers end none of them, and are done when they serve',
  async () => {
    using folder = createFolder();
    const files = folder.write('m.json', { [hashOf(query)]: query });
    await using upstream = await startUpstream({ 'GET /api/projects/1/': rows.project(1) });
    const environment = { UPSTREAM_URL: upstream.url, WORKERS: '4', PORT: '0', CURSOR_SECRET: secret };
    await using running = runMain([], { ...environment, PERSISTED_DOCUMENTS: files, STOP_DELAY_MS: '0' });
    const url = await startUnderHangUps(running);
    await until(() => new Set(running.output().match(/"pid":\d+(?=[^\n]*documents were read again)/g)).size === 4);
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    expect(await response.json()).toEqual({ data: { project: { name: 'Project 1' } } });
    running.child.kill('SIGTERM');
    expect(await running.exit()).toBe(0);
    expect(running.output()).not.toContain('a worker ended');
    expect(running.output().match(/"(?:reason":"SIGTERM","msg":"stopping|msg":"stopped)"/g)).toHaveLength(2);
  },
);

test.skipIf(process.platform !== 'linux')(
  'a hang-up does not end a gateway that has nothing to read again',
  async () => {
    const environment = { UPSTREAM_URL: 'http://127.0.0.1:1', PORT: '0', CURSOR_SECRET: secret, STOP_DELAY_MS: '0' };
    await using running = runMain([], environment);
    const url = await startUnderHangUps(running);
    running.child.kill('SIGHUP');
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await running.exit()).toBe(0);
  },
);

test.skipIf(process.platform !== 'linux')(
  'the end of its terminal stops a gateway once what is in flight has been answered',
  async () => {
    const held = Promise.withResolvers<void>();
    await using upstream = await startUpstream({
      'GET /api/projects/1/': async () => {
        await held.promise;
        return rows.project(1);
      },
    });
    const child = spawn('script', ['-qec', `exec ${process.execPath} src/main.ts`, '/dev/null'], {
      env: {
        PATH: process.env['PATH'],
        UPSTREAM_URL: upstream.url,
        PORT: '0',
        CURSOR_SECRET: secret,
        STOP_DELAY_MS: '0',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(() => /Gateway +http\S+/.test(output));
    const url = /Gateway +(http\S+)/.exec(output)?.[1] ?? '';
    const asked = fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    await until(() => upstream.requests.length > 0);
    // The terminal is gone with the process that holds it.
    child.kill('SIGKILL');
    await until(() =>
      fetch(new URL('/healthz', url)).then(
        () => false,
        () => true,
      ),
    );
    held.resolve();
    expect(await (await asked).json()).toEqual({ data: { project: { name: 'Project 1' } } });
  },
);
