import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Authentication, Authenticator } from '../../src/auth/authenticator.ts';
import { KeySet } from '../../src/auth/key-set.ts';
import { createHandle } from '../../src/http/handle.ts';
import { MemoryRoom } from '../../src/memory.ts';
import type { StreamMessage } from '../../src/operation/operation-result.ts';
import type { RunOperation } from '../../src/operation/pipeline.ts';
import { listen } from '../support/listen.ts';
import { until } from '../support/until.ts';

const fault = new Error('a fault of the gateway');

/** An authenticator that fails as no request may make it fail. */
class FaultyAuthenticator extends Authenticator {
  readonly #answer: () => Promise<Authentication>;

  constructor(answer: () => Promise<Authentication>) {
    const log = (): void => undefined;
    const keySet = new KeySet({ from: '', fetch: () => Promise.reject(fault), log });
    super({ rules: { issuer: '', audience: '', tenantClaim: '' }, keySet, tenants: () => new Map(), log });
    this.#answer = answer;
  }

  override authenticate(): Promise<Authentication> {
    return this.#answer();
  }
}

/** Serves `/graphql` alone. */
async function serve({ run = () => Promise.reject(fault), authenticator }: Partial<Served>) {
  const reported: unknown[] = [];
  const bodyRoom = new MemoryRoom(1e6);
  const handle = createHandle({
    run,
    authenticator,
    bodyRoom,
    corsOrigins: [],
    corsHeaders: [],
    compression: false,
    bodyLimits: { bytes: 1000, jsonDepth: 10 },
    report: (error) => reported.push(error),
    countRefused: () => undefined,
    log: () => undefined,
    graphiql: false,
    explain: false,
    introspection: true,
    maxUpstreamCalls: 1,
    maxUpstreamRows: 1,
    maxAnswerObjects: 1,
  });
  const server = createServer((request, response) => void handle(request, response));
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, url: `http://127.0.0.1:${port}/graphql`, reported, bodyRoom };
}

interface Served {
  readonly run: RunOperation;
  readonly authenticator: Authenticator;
}

function ask(url: string, accept: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept, 'x-request-id': 'r1' };
  return fetch(url, { method: 'POST', headers, body: '{"query":"{ projects { totalCount } }"}' });
}

test.each(['application/json', 'text/event-stream'])(
  'a fault before there is a context is answered and reported, to a client of %s',
  async (accept) => {
    const authenticator = new FaultyAuthenticator(() => {
      throw fault;
    });
    const { url, reported, bodyRoom } = await serve({ authenticator });
    const answer = await ask(url, accept);
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([500, 'r1']);
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }] });
    expect(reported).toEqual([fault]);
    expect(bodyRoom.taken).toBe(0);
  },
);

test('a fault while a token is verified is no unhandled rejection if the client leaves before its body is complete', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  let isAsked = false;
  const authenticator = new FaultyAuthenticator(() => {
    isAsked = true;
    return Promise.reject(fault);
  });
  const { port } = await serve({ authenticator });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{');
  await until(() => isAsked);
  socket.destroy();
  await setTimeout(50);
  expect(unhandled).toEqual([]);
});

test('a fault while a stream is written is reported, and the client sees that the stream is incomplete', async () => {
  async function* messages(): AsyncGenerator<StreamMessage, void> {
    yield { result: { data: { name: 'one' } }, isLast: false };
    await Promise.reject(fault);
  }
  const { url, reported } = await serve({ run: () => Promise.resolve({ stream: messages() }) });
  const answer = await ask(url, 'text/event-stream');
  await expect(answer.text()).rejects.toThrow('terminated');
  expect(reported).toEqual([fault]);
});
