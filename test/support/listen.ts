import type { Server } from 'node:net';

/**
 * Has a server listen on loopback, on a free port unless one is named; resolves to the port. Hundreds of connections may
 * come at once, and those that find no place in the backlog wait for seconds.
 */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', backlog: 4096 }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  return address.port;
}
