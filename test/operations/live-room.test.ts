import { expect, test } from 'vitest';
import { begun, follow, startLive, subscribe } from '../support/live.ts';
import { keepOperations } from '../support/metrics.ts';
import { project } from '../support/rows.ts';

const whole = follow.replace('upstreamId', 'upstreamId properties');

const routes = { 'GET /api/projects/:id/': project(1, { name: 'n'.repeat(500_000) }) };

test('a message takes room until its listeners have it, though none follows it', async () => {
  const { upstream, events, gateway } = await startLive({ answerRoomBytes: 1_000_000 }, routes);
  const all = await Promise.all([1, 2, 3].map(() => subscribe(gateway.url, { query: whole })));
  await begun(upstream);
  events.add(1, '2024-05-01T10:00:01Z', { properties: 'x'.repeat(300_000) });
  await Promise.all(all.map((heard) => heard.until(() => heard.ids().length === 1)));
  const ask = async (): Promise<number> => (await gateway.ask('{ project(id: 1) { name } }')).status;
  await expect.poll(ask).toBe(200);
  expect(all.map(({ ended }) => ended)).toEqual([undefined, undefined, undefined]);
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
});

test('a message for which there is no room cuts its stream, and comes to a client that resumes behind the one before', async () => {
  const { lines, log } = keepOperations();
  const { upstream, events, gateway } = await startLive({ answerRoomBytes: 100_000, log }, routes);
  await using heard = await subscribe(gateway.url, { query: whole });
  await begun(upstream);
  const told = events.add(1, '2024-05-01T10:00:01Z');
  await heard.until(() => heard.messages.length === 1);
  const large = events.add(1, '2024-05-01T10:00:02Z', { properties: 'x'.repeat(200_000) });
  await heard.until(() => heard.ended !== undefined);
  expect([heard.ended, heard.messages.length, heard.ids()]).toEqual(['cut', 1, told]);
  await expect.poll(() => lines).toMatchObject([{ messages: 1, codes: ['OVERLOADED'] }]);
  await using resumed = await subscribe(gateway.url, { variables: { after: heard.cursor() } });
  await resumed.until(() => resumed.messages.length > 0);
  expect(resumed.ids()).toEqual(large);
  expect(gateway.reported).toEqual([]);
});

test('a message that exceeds a limit is sent as an error, and the stream goes on', async () => {
  const { upstream, events, gateway } = await startLive({ maxAnswerBytes: 100_000 }, routes);
  const query = follow.replace('upstreamId', 'upstreamId one: properties two: properties');
  await using heard = await subscribe(gateway.url, { query });
  await begun(upstream);
  events.add(1, '2024-05-01T10:00:01Z', { properties: 'x'.repeat(60_000) });
  await heard.until(() => heard.messages.length === 1);
  const next = events.add(1, '2024-05-01T10:00:02Z');
  await heard.until(() => heard.messages.length === 2);
  expect(heard.messages[0]).toMatchObject({ errors: [{ extensions: { code: 'COST_LIMIT_EXCEEDED' } }] });
  expect([heard.ids(), heard.ended]).toEqual([next, undefined]);
});
