import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { together } from '../support/load.ts';
import { project } from '../support/rows.ts';
import { startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

test('a thousand connections that say nothing hold up nobody', { timeout: 60_000 }, async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
  await using gateway = await startSmallGateway(upstream);
  expect((await gateway.ask(query)).body).toBe(whole);
  await withstand(gateway, async () => {
    const sockets = await together(1000, 100, async () => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    });
    for (let times = 0; times < 3; times += 1) expect((await gateway.ask(query)).body).toBe(whole);
    for (const socket of sockets) socket.destroy();
  });
  expect(upstream.requests).toHaveLength(4);
});
