/** The other process of plan.ts and persisted.ts: an upstream, and clients that ask the gateway as often as they are told. */
import { createServer } from 'node:http';
import { rowsOf } from '../test/support/connections.ts';
import { event, listedDashboard, project } from '../test/support/rows.ts';
import { requestsFor, type Way } from './ways.ts';

const [, , query = ''] = process.argv;
const bodies = {
  project: JSON.stringify(project(1)),
  dashboards: JSON.stringify({ count: 10, next: null, previous: null, results: rowsOf(10, listedDashboard) }),
  events: JSON.stringify({ next: null, results: rowsOf(5, event) }),
};

const server = createServer(({ url = '' }, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(
    url.includes('/dashboards/') ? bodies.dashboards : url.includes('/events/') ? bodies.events : bodies.project,
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
});

/** The load that it has to make. */
interface Load {
  readonly url: string;
  readonly count: number;
  readonly way: Way;
}

process.on('message', ({ url, count, way }: Load) => {
  const requestOf = requestsFor(way, url, query);
  let next = 0;
  const client = async (): Promise<void> => {
    for (; next < count; ) {
      next += 1;
      const response = await fetch(...requestOf({ project: `${next % 1000}`, first: 10 }));
      const text = await response.text();
      if (text.startsWith('{"errors"')) throw new Error(text);
    }
  };
  void Promise.all(Array.from({ length: 16 }, client)).then(() => process.send?.('done'));
});
