/** The service that a fleet calls, on loopback. It has no throttle, and notes when it was called. */
import { createServer } from 'node:http';
import { listen } from '../../test/support/listen.ts';
import { listedDashboard, project } from '../../test/support/rows.ts';

/** The service, which runs until it is disposed of. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** When each call arrived, on the clock of `performance.now()`. */
  readonly calls: readonly number[];
}

/** Dashboards of each project. */
const dashboards = 10;

/** Starts the service on a free port. Each answer takes so many milliseconds. */
export async function startService(latencyMs: number): Promise<Service> {
  const calls: number[] = [];
  const server = createServer(({ url = '' }, response) => {
    calls.push(performance.now());
    const [, id = '1'] = /^\/api\/projects\/(\d+)\//.exec(url) ?? [];
    const rows = Array.from({ length: dashboards }, (_, index) => listedDashboard(index + 1));
    const body = url.includes('/dashboards/')
      ? { count: dashboards, next: null, previous: null, results: rows }
      : project(Number(id));
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }, latencyMs);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
