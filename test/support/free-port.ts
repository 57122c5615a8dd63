import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { listen } from './listen.ts';

/** Systems give ports from 32768 on to servers that ask for any, and to connections. */
const firstGiven = 32_768;

/**
 * A port of loopback that no process listens on, for a process that has to be told one. No other server of a test is given
 * it meanwhile: it is below the ports that the system gives.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, randomInt(10_000, firstGiven)).catch(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  return port ?? (await freePort());
}
