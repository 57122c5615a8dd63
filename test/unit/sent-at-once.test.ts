import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { UpstreamOptions } from '../../src/rest/resilience/upstream-resources.ts';
import { createUpstream } from '../../src/rest/upstream.ts';
import { budgetOf, gateOf, localBudget } from '../support/budgets.ts';
import { begin, callerWith, connectCached } from '../support/cached-clients.ts';
import { project } from '../support/rows.ts';
import { runOf } from '../support/runs.ts';
import { startUpstream } from '../support/upstream.ts';

const target = '/api/projects/1/';

/** The work within the call of `read` itself, before it returns; it does no other work until later. */
interface Within {
  /** Requests that were written to a socket. */
  readonly sent: number;
  /** Timers and turns that were asked for. */
  readonly timers: readonly string[];
  readonly hashes: number;
}

const turns = new Set(['Timeout', 'Immediate']);

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Reads once to open a connection, then looks at what a second read does at once. */
async function withinRead(client: RestClient): Promise<Within> {
  await client.read(operations.getProject, '/api/projects/2/');
  const hash = vi.spyOn(crypto, 'hash');
  const createHash = vi.spyOn(crypto, 'createHash');
  syncBuiltinESMExports();
  const timers: string[] = [];
  const write = vi.spyOn(Socket.prototype, 'write');
  const hook = createHook({ init: (_id, type) => void (turns.has(type) && timers.push(type)) }).enable();
  const answer = client.read(operations.getProject, target);
  hook.disable();
  const within = {
    sent: write.mock.calls.length,
    timers,
    hashes: hash.mock.calls.length + createHash.mock.calls.length,
  };
  await answer;
  return within;
}

async function clientOver(
  url: string,
  limits?: UpstreamOptions['limits'],
): Promise<{ readonly client: RestClient; readonly close: () => void }> {
  const bodyRoomLimits = { operation: 2 ** 20, process: 2 ** 27 };
  const sizes = { connections: 10, maxInFlight: 10, bodyRoomLimits };
  const log = (): undefined => undefined;
  const upstream = createUpstream({ url, ...sizes, eventLoop: new EventLoopYield(), log, limits });
  const caller = callerWith('phx_test');
  const epoch = await upstream.epochOf(caller, 'normal');
  return { client: upstream.clientFor(runOf(caller, { epoch })), close: () => upstream.close() };
}

test.each([
  ['without a budget', undefined],
  ['with a budget of another surface', budgetOf({ events: '100/60' })],
])('%s a read is sent before it returns, with no timer, turn or hash', async (_which, settings) => {
  await using api = await startUpstream({ 'GET /api/projects/:id/': project(1) }, { hold: 1 });
  const { client, close } = await clientOver(api.url, settings && gateOf(localBudget(settings)));
  expect(await withinRead(client)).toEqual({ sent: 1, timers: [], hashes: 0 });
  close();
});

test('with a budget it is not: its wave is decided at the end of the turn', async () => {
  await using api = await startUpstream({ 'GET /api/projects/:id/': project(1) }, { hold: 1 });
  const { client, close } = await clientOver(api.url, gateOf(localBudget(budgetOf({ rest: '100/60' }))));
  expect(await withinRead(client)).toMatchObject({ sent: 0 });
  close();
});

test('with a cache a miss is sent as early', async () => {
  await using api = await startUpstream({ 'GET /api/projects/:id/': project(1) }, { hold: 1 });
  const upstream = connectCached(api.url);
  expect(await withinRead(await begin(upstream, callerWith('phx_test')))).toMatchObject({ sent: 1 });
  upstream.close();
});
