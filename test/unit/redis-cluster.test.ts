import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../support/listen.ts';
import { connectTo } from '../support/redis.ts';
import { until } from '../support/until.ts';

/**
 * Starts a node of a Cluster. It has one name, which each SCAN finds. `view` returns the ports of the primaries that it
 * knows.
 */
function startNode(view: () => readonly number[]): Promise<number> {
  const replies: Readonly<Record<string, () => string>> = {
    cluster: () => slotsOf(view()),
    scan: () => '*2\r\n$1\r\n0\r\n*1\r\n$4\r\nname\r\n',
    unlink: () => ':1\r\n',
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const [, command = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
        socket.write(replies[command.toLowerCase()]?.() ?? '+OK\r\n');
    });
  });
  onTestFinished(() => void server.close());
  return listen(server);
}

/** The reply to `CLUSTER SLOTS`: each primary has half of the slots. */
function slotsOf(ports: readonly number[]): string {
  const ranges = ports.map((port, nth) => {
    const digits = String(port);
    const [first, last] = [nth * 8192, nth * 8192 + 8191];
    return `*3\r\n:${first}\r\n:${last}\r\n*3\r\n$9\r\n127.0.0.1\r\n:${digits}\r\n$5\r\nnode${nth}\r\n`;
  });
  return `*${ranges.length}\r\n${ranges.join('')}`;
}

test.each([
  ['no node', 0],
  ['one of two nodes', 1],
])('a purge has failed if the Cluster names %s', async (_what, count) => {
  const ports: number[] = [];
  let named = 2;
  for (let nth = 0; nth < 2; nth += 1) ports.push(await startNode(() => ports.slice(0, named)));
  const redis = connectTo(`redis+cluster://127.0.0.1:${ports[0]}`);
  await until(() => redis.isUp);
  expect(await redis.unlinkAll('*')).toBe(2);
  named = count;
  expect(await redis.unlinkAll('*')).toBeUndefined();
});
