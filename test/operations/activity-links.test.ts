import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const path = '/api/organizations/@current/plugins/activity/';

test.each([
  [`http://web.internal:8000${path}?page=2&limit=10`, '?page=2&limit=10'],
  [`//web.internal${path}?page=2#top`, '?page=2'],
  ['http://web.internal/', null],
  ['http://web.internal/?next=http://db.internal/', null],
  [null, null],
])('the next page %s of the activity is told without its host', async (next, told) => {
  const answer = { results: [{ activity: 'installed' }], next, previous: next, total_count: 12 };
  await using upstream = await startUpstream({ [`GET ${path}`]: answer });
  await using gateway = await startGateway(upstream);
  const answered = await gateway.ask('{ organization(id: "@current") { pluginActivity { body } } }');
  expect(answered.data).toEqual({
    organization: { pluginActivity: { body: { ...answer, next: told, previous: told } } },
  });
  expect(answered.body).not.toContain('internal');
});
