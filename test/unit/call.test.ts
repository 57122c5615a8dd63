import { expect, test } from 'vitest';
import { operations } from '../../src/rest/generated/views.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { UpstreamCall } from '../../src/rest/resilience/call.ts';
import { createUpstreamResources, type UpstreamResources } from '../../src/rest/resilience/upstream-resources.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';

const operation = operations.listProjects;
const caller = { key: 'phx_test', hash: 'hash', sharingKey: 'hash', queueKey: 'hash' };

/** The way with one slot to an upstream that never answers. */
function createSilentUpstream(): UpstreamResources {
  const upstream = createUpstreamResources({
    url: 'http://upstream.test',
    connections: 1,
    maxInFlight: 1,
    maxBodyBytes: 1000,
    bodyLimits: { operation: 1000, process: 1000 },
    log: () => undefined,
  });
  return {
    ...upstream,
    transport: {
      send: (_call, listener) => ({
        abort: () => process.nextTick(() => listener.failed(new TransportError('aborted'))),
      }),
      reroute: () => undefined,
      close: () => Promise.resolve(),
    },
  };
}

/** A read that an operation waits for; `leave` ends the operation. */
function startRead(upstream: UpstreamResources): { readonly ended: Promise<unknown>; readonly leave: () => void } {
  const deadline = new OperationDeadline(5000);
  const owner = { caller, calls: new OperationCalls(10), spans: undefined, heardOf: () => undefined };
  const request = { operation, target: '/api/projects/', headers: {}, isWrite: false, decode: () => undefined };
  const call = new UpstreamCall(upstream, owner, request);
  const ended = call.join(deadline).catch((error: unknown) => error);
  call.start();
  return { ended, leave: () => deadline.end('left') };
}

async function microtasks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test.each([0, 1, 2, 3, 4])('a call given up %i microtasks after its slot came keeps no slot', async (count) => {
  const upstream = createSilentUpstream();
  upstream.limiter.take('another');
  const read = startRead(upstream);
  await microtasks(4);
  expect(upstream.limiter.queued).toBe(1);
  upstream.limiter.release('another', 1);
  await microtasks(count);
  read.leave();
  await read.ended;
  await new Promise(setImmediate);
  expect(upstream.limiter.inFlight).toBe(0);
});

test.each([0, 1, 2, 3, 4])(
  'a probe given up %i microtasks after it was let in keeps no slot and no other probe back',
  async (count) => {
    const upstream = createSilentUpstream();
    const { breakers, limiter } = upstream;
    while (breakers.state === 'closed') breakers.failed({ kind: 'network', tookMs: 0 }, 'hash', operation);
    const read = startRead(upstream);
    await microtasks(count);
    read.leave();
    await read.ended;
    await new Promise(setImmediate);
    expect(limiter.inFlight).toBe(0);
    expect(breakers.enter('c', operation, false).kind).toBe('probe');
  },
);
