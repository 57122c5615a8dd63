import { createServer } from 'node:net';
import { listen } from './listen.ts';

/** A port of loopback that no process listens on now, for a process that has to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
