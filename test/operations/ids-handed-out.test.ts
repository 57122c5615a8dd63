import { expect, test } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import { at } from '../support/connections.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { event } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Ids that stay one segment of a path, percent-encoded where they must be. */
const readable = [
  ...['0199-ab_c~d', 'a.b', '.a', '...', '1?limit=1', '1#x', '1&x=1', '1;x', ' 1 ', ' ', 'a b', 'a+b', "it's", '-1'],
  ...['values ', '100%', '1\u2028', '\u200b', 'é', '日本語', '🙂', '@CURRENT', "1' or '1'='1", 'x'.repeat(500)],
];

/** Ids that a server on the way may take for another path, or refuse. */
const unreadable = [
  ...['.', '..', '..;', '/', 'a/b', 'a/../b', 'a\\b', 'a%2Fb', '%2e%2e', '1%00'],
  ...['1\t', '1\r\nX-Evil: 1', '\u0000', '\u0085', 'values', '@current', 'x'.repeat(501)],
];

function startWith(id: string): Promise<Upstream> {
  return startUpstream({
    'GET /api/projects/1/events/': { next: null, results: [event(1, { id })] },
    'GET /api/projects/1/events/:id/': ({ path }) => {
      const [, segment = ''] = /\/events\/([^/?]+)\/$/.exec(path) ?? [];
      return event(1, { id: decodeURIComponent(segment) });
    },
  });
}

/** The ids of the event that the gateway hands out, or the codes of the errors. */
async function handedOut(gateway: TestGateway): Promise<unknown> {
  const answer = await gateway.ask('{ project(id: 1) { events { nodes { id upstreamId } } } }');
  return answer.errors?.map(({ extensions }) => extensions['code']) ?? at(answer.data, 'project', 'events', 'nodes', 0);
}

test.each(readable)('an event with the id %j is read again by the global id that is handed out', async (id) => {
  await using upstream = await startWith(id);
  await using gateway = await startGateway(upstream);
  const first = await handedOut(gateway);
  expect(first).toMatchObject({ upstreamId: id });
  const variables = { id: isObject(first) ? first['id'] : undefined };
  for (const query of ['node(id: $id)', 'nodes(ids: [$id])']) {
    const again = await gateway.ask(`query ($id: ID!) { found: ${query} { ... on Event { id upstreamId } } }`, {
      variables,
    });
    expect(again.errors).toBeUndefined();
    expect([at(again.data, 'found')].flat()).toEqual([first]);
  }
  const segment = /\/events\/([^/]+)\/$/.exec(upstream.requests.at(-1) ?? '')?.[1] ?? '';
  expect(decodeURIComponent(segment)).toBe(id);
});

test.each(unreadable)('an event with the id %j, which could not be read by it, has no global id', async (id) => {
  await using upstream = await startWith(id);
  await using gateway = await startGateway(upstream);
  expect(await handedOut(gateway)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  const named = await gateway.ask('{ project(id: 1) { events { nodes { upstreamId } } } }');
  expect([named.errors, at(named.data, 'project', 'events', 'nodes')]).toEqual([undefined, [{ upstreamId: id }]]);
});
