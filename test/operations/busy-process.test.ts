import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';

/** An upstream in a thread of its own, which counts its requests and answers each after 50 ms. */
const upstreamCode = `
const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
const body = JSON.stringify({ id: 1, name: 'Project 1' });
const server = createServer((request, response) => {
  Atomics.add(workerData, 0, 1);
  setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), 50);
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

test('an answer that is there when the deadline passes is used, however busy the process was', async () => {
  const requests = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(upstreamCode, { eval: true, workerData: requests });
  const port = await new Promise<number>((resolve) => void worker.once('message', resolve));
  await using gateway = await startGateway({ url: `http://127.0.0.1:${port}` }, { operationDeadlineMs: 500 });
  const query = '{ project(id: 1) { name } }';
  const whole = '{"data":{"project":{"name":"Project 1"}}}';
  expect((await gateway.ask(query)).body).toBe(whole);
  const answer = gateway.ask(query);
  while (Atomics.load(requests, 0) < 2) await nextTurn();
  const until = performance.now() + 700;
  while (performance.now() < until);
  expect((await answer).body).toBe(whole);
  const { breakers, reachability } = gateway.gateway.resources;
  expect([breakers.isOpen, reachability.state.kind]).toEqual([false, 'answering']);
  await worker.terminate();
});
