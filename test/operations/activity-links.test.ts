import { expect, test } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { organizationId } from '../contract/operation-table.ts';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { membersOf, rowsOf, startClient } from '../workspace/client.ts';

const path = '/api/organizations/@current/plugins/activity/';

const page = 'pluginActivity(after: $after) { hasNextPage endCursor totalCount entries { itemId } }';
const query = `query Page($after: String) { organization(id: "${organizationId}") { ${page} } }`;
const log = `GET /api/organizations/${organizationId}/plugins/activity/`;

test.each([
  ['page and limit', (at: number) => `page=${at}&limit=2`],
  ['limit and offset', (at: number) => `limit=2&offset=${2 * (at - 1)}`],
])('a log of activity that goes on by %s is walked to its end', async (_how, queryOf) => {
  const linkTo = (at: number): string => `http://web.internal/api/organizations/x/plugins/activity/?${queryOf(at)}`;
  const pageAt = (at: number) => ({
    results: [{ item_id: String(2 * at) }, { item_id: String(2 * at + 1) }],
    next: at === 3 ? null : linkTo(at + 1),
    previous: null,
    total_count: 6,
  });
  const { upstream, gateway } = await startBoth({
    [log]: pageAt(1),
    [`${log}?${queryOf(2)}`]: pageAt(2),
    [`${log}?${queryOf(3)}`]: pageAt(3),
  });
  const ids: unknown[] = [];
  for (let after: unknown = null; ; ) {
    const answer = await gateway.ask(query, { variables: { after }, extensions: { cost: true } });
    expect(answer.errors).toBeUndefined();
    const activity = membersOf(membersOf(membersOf(answer.data).organization).pluginActivity);
    expect(activity.totalCount).toBe(6);
    ids.push(...rowsOf(activity.entries).map(({ itemId }) => itemId));
    expect(activity.hasNextPage).toBe(activity.endCursor !== null);
    if (activity.endCursor === null) break;
    after = activity.endCursor;
  }
  expect(ids).toEqual(['2', '3', '4', '5', '6', '7']);
  expect(upstream.requests).toEqual([log, `${log}?${queryOf(2)}`, `${log}?${queryOf(3)}`]);
});

test('the activity of the embedded workspace is walked to its end', async () => {
  await using workspace = await startClient({ pageCap: 4 });
  await using gateway = await startGateway(workspace);
  const seen: unknown[] = [];
  for (let after: unknown = null; ; ) {
    const answer = await gateway.ask(query.replace(`"${organizationId}"`, '"@current"'), {
      variables: { after },
      headers: { authorization: 'Bearer phx_demo_fernweh_travel' },
    });
    const activity = membersOf(membersOf(membersOf(answer.data).organization).pluginActivity);
    seen.push(...rowsOf(activity.entries).map(({ itemId }) => itemId));
    expect(activity.totalCount).toBe(9);
    if (activity.hasNextPage !== true) break;
    after = activity.endCursor;
  }
  expect(seen).toHaveLength(9);
});

test.each(['', 'P2xpbWl0PTEwMDAw', createCursorCodec('guessed').encodeQuery('activity', '?limit=10000')])(
  'the cursor %j, which no page told, is refused without a call, as it was planned',
  async (after) => {
    const { upstream, gateway } = await startBoth({});
    const { errors, extensions } = await gateway.ask(query, { variables: { after }, extensions: { cost: true } });
    expect(errors).toMatchObject([
      { path: ['organization', 'pluginActivity'], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(extensions).toMatchObject({ cost: { requested: 0, actual: 0 } });
    expect(upstream.requests).toEqual([]);
  },
);

test.each([
  [`http://web.internal:8000${path}?page=2&limit=10`, '?page=2&limit=10'],
  [`//web.internal${path}?page=2#top`, '?page=2'],
  ['http://web.internal/', null],
  ['http://web.internal/?next=http://db.internal/', null],
  [null, null],
])('the next page %s of the activity is told without its host', async (next, told) => {
  const answer = { results: [{ activity: 'installed' }], next, previous: next, total_count: 12 };
  const { gateway } = await startBoth({ [`GET ${path}`]: answer });
  const answered = await gateway.ask('{ organization(id: "@current") { pluginActivity { body } } }');
  expect(answered.data).toEqual({
    organization: { pluginActivity: { body: { ...answer, next: told, previous: told } } },
  });
  expect(answered.body).not.toContain('internal');
});
