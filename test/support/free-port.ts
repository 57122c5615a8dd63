import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of loopback that nobody listens on now, for a process that has to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  return address.port;
}
