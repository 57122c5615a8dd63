import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { membersOf, resultsOf, rowsOf, startClient } from '../workspace/client.ts';

const key = 'phx_demo_fernweh_travel';
const query = `query Page($after: String, $filter: EventFilter) {
  project(id: 4) { events(first: 100, after: $after, filter: $filter) { nodes { upstreamId } pageInfo { hasNextPage endCursor } } }
}`;

test.each([
  ['offset', {}],
  ['offset', { occurredBefore: '2026-11-15T00:00:00Z', event: '$pageview' }],
  ['before', {}],
  ['before', { occurredBefore: '2026-11-15T00:00:00Z', event: '$pageview' }],
] as const)(
  'a walk over the events of the workspace visits each once, next going on by %s: %j',
  async (eventsNext, filter) => {
    await using workspace = await startClient({ eventsNext });
    await using gateway = await startGateway(workspace);
    const found: unknown[] = [];
    for (let after: unknown = null; ; ) {
      const answer = await gateway.ask(query, {
        variables: { after, filter },
        headers: { authorization: `Bearer ${key}` },
      });
      const events = membersOf(membersOf(membersOf(answer.data).project).events);
      found.push(...rowsOf(events.nodes).map(({ upstreamId }) => upstreamId));
      const { hasNextPage, endCursor } = membersOf(events.pageInfo);
      if (hasNextPage !== true) break;
      after = endCursor;
    }
    const before = 'occurredBefore' in filter ? `&before=${filter.occurredBefore}&event=${filter.event}` : '';
    const all = resultsOf(await workspace.read(`/api/projects/4/events/?limit=1000${before}`));
    expect(all.length).toBeGreaterThan(100);
    expect(found).toEqual(all.map(({ id }) => id));
  },
);
