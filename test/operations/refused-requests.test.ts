import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { type TestGateway } from '../support/gateway.ts';
import { hang } from '../support/replies.ts';
import { openWith } from '../support/wire.ts';

async function refusedBy({ gateway }: TestGateway): Promise<Readonly<Record<string, number>>> {
  const samples = (await gateway.metrics.render()).matchAll(
    /^gateway_refused_requests_total\{reason="(\w+)"\} ([1-9]\d*)$/gm,
  );
  return Object.fromEntries([...samples].map(([, reason = '', count]) => [reason, Number(count)]));
}

function head(line: string, ...headers: readonly string[]): string {
  return `${[`${line} HTTP/1.1`, 'host: a', ...headers].join('\r\n')}\r\n\r\n`;
}

function post(body: string, ...headers: readonly string[]): string {
  return head('POST /graphql', 'content-type: application/json', `content-length: ${body.length}`, ...headers) + body;
}

const stream = 'accept: text/event-stream';

test.each([
  ['many_headers', head('GET /graphql', ...Array.from({ length: 150 }, (_, index) => `x-${index}: 1`))],
  ['bad_head', head('GET /graphql', 'host: b')],
  ['large_head', head('GET /graphql', `x: ${'x'.repeat(20_000)}`)],
  ['malformed', 'no HTTP\r\n\r\n'],
  ['wrong_method', head('PUT /graphql')],
  ['not_json', head('POST /graphql', 'content-type: text/plain', 'content-length: 0')],
  ['encoded_body', post('{}', 'content-encoding: gzip')],
  ['not_acceptable', head('GET /graphql?query={__typename}', 'accept: image/png')],
  ['large_body', head('POST /graphql', 'content-type: application/json', 'content-length: 9999999')],
  ['large_body', head('POST /graphql', 'content-type: application/json', 'content-length: 9999999', stream)],
  ['deep_json', post(`{"variables": ${'['.repeat(200)}${']'.repeat(200)}}`)],
  ['bad_parameter', post('[]')],
  ['bad_parameter', post('[]', stream)],
  ['bad_parameter', head('GET /graphql?query={__typename}&variables=%7B')],
])('a request that is refused as %s is counted, and is no operation', async (reason, text) => {
  const { gateway } = await startBoth({});
  const socket = openWith(gateway.url, text);
  await expect.poll(() => refusedBy(gateway)).toEqual({ [reason]: 1 });
  const operations = (await gateway.gateway.metrics.render()).match(/^gateway_operations_total\{.*\} [1-9]/gm);
  expect(operations).toBeNull();
  expect(gateway.reported).toEqual([]);
  socket.destroy();
});

test('an operation that is refused is counted as one, and not twice', async () => {
  const { gateway } = await startBoth({});
  await gateway.ask('{ nothing }');
  await gateway.ask('{');
  expect(await refusedBy(gateway)).toEqual({});
});

test('a client that sends too many requests ahead is counted', async () => {
  const { gateway } = await startBoth(() => hang);
  const socket = openWith(gateway.url, head('GET /graphql?query={project(id:1){name}}').repeat(100)).resume();
  await once(socket, 'close');
  await expect.poll(() => refusedBy(gateway)).toEqual({ pipelined: 1 });
});

test('bodies for which there is no room are counted', async () => {
  const { gateway } = await startBoth({});
  const most = 2 ** 20;
  const sockets = Array.from({ length: 60 }, () =>
    openWith(
      gateway.url,
      head('POST /graphql', 'content-type: application/json', `content-length: ${most}`) + 'a'.repeat(most - 1),
    ),
  );
  await expect
    .poll(async () => Object.keys(await refusedBy(gateway)), { timeout: 20_000 })
    .toEqual(['no_room_for_body']);
  for (const socket of sockets) socket.destroy();
});

test('connections beyond the limit are counted', async () => {
  const { gateway } = await startBoth({}, {}, { maxConnections: 2 });
  const sockets = Array.from({ length: 6 }, () => openWith(gateway.url, 'GET /graphql HTTP/1.1\r\n'));
  // One that has not sent a whole request makes room for the next.
  await expect.poll(async () => Object.keys(await refusedBy(gateway))).toEqual(['connections']);
  for (const socket of sockets) socket.destroy();
});
