import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { inForm } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { begun, follow, GrowingEvents, quick, startEvents, startLive, subscribe } from '../support/live.ts';
import { refusal } from '../support/replies.ts';

function at(milliseconds: number): string {
  return new Date(Date.parse('2024-05-01T10:00:00Z') + milliseconds).toISOString();
}

test('a subscription sends events that come, oldest first, and none that were there', async () => {
  const { upstream, events, gateway } = await startLive();
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const first = events.add(2, at(1000));
  await heard.until(() => heard.ids().length === 2);
  const second = events.add(1, at(2000));
  await heard.until(() => heard.ids().length === 3);
  expect(heard.ids()).toEqual([...first, ...second]);
  const [one, two] = upstream.requests;
  expect(one).toMatch(/^GET \/api\/projects\/1\/events\/\?limit=100&before=[^&]*$/);
  expect(two).toMatch(/\?limit=100&after=2024-05-01T09%3A58%3A59Z&before=[^&]*$/);
  expect(gateway.reported).toEqual([]);
});

test('a filter is sent with each poll, and a subscription with another filter is polled by itself', async () => {
  const { upstream, gateway } = await startLive();
  await using one = await subscribe(gateway.url, { variables: { filter: { event: 'a' } } });
  await using other = await subscribe(gateway.url, { variables: { filter: { event: 'b' } } });
  await begun(upstream, 4);
  const filters = new Set(upstream.requests.map((request) => /event=(\w)/.exec(request)?.[1]));
  expect(filters).toEqual(new Set(['a', 'b']));
  expect([one.messages, other.messages]).toEqual([[], []]);
});

test('two hundred listeners are one poll each interval, and all get the same', async () => {
  const events = new GrowingEvents();
  const added: string[] = [];
  // Each call finds one event more than the call before, so far apart that none reads what was told before.
  const grow: GrowingEvents['list'] = (request) => {
    added.push(...events.add(1, at(added.length * 120_000)));
    return events.list(request);
  };
  const { upstream, gateway } = await startBoth(
    { 'GET /api/projects/1/events/': grow },
    { live: { ...quick, pollMs: 100 } },
    { hold: 0 },
  );
  const all = await Promise.all(Array.from({ length: 200 }, () => subscribe(gateway.url)));
  await Promise.all(all.map((heard) => heard.until(() => heard.messages.length >= 3)));
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
  for (const heard of all) {
    const ids = heard.ids();
    const first = added.indexOf(ids[0] ?? '');
    expect(ids).toEqual(added.slice(first, first + ids.length));
    // If each were polled for alone, a message would have the events that the polls of others have found as well.
    expect(ids).toHaveLength(heard.messages.length);
  }
  const { metrics } = gateway.gateway;
  await expect.poll(() => metrics.render()).toMatch(/^gateway_streams 0$/m);
  const polls = Number(/^gateway_stream_polls_total (\d+)$/m.exec(await metrics.render())?.[1]);
  // The last one may have been given up before it was sent.
  expect([0, 1]).toContain(polls - upstream.requests.length);
});

test('without a budget a key is polled once a second, whatever it follows and however many listen', async () => {
  const polls: { readonly event: string | null; readonly at: number }[] = [];
  const answer: GrowingEvents['list'] = ({ query }) => {
    polls.push({ event: query.get('event'), at: performance.now() });
    return { next: null, results: [] };
  };
  // The first polls are answered once there are two: then both lists are followed.
  const { gateway } = await startBoth(
    { 'GET /api/projects/1/events/': answer },
    { live: { ...quick, pollMs: 1, backoffOf: undefined } },
    { hold: 2 },
  );
  const followed = ['signed up', 'signed out', 'signed up', 'signed out'];
  const all = await Promise.all(followed.map((event) => subscribe(gateway.url, { variables: { filter: { event } } })));
  await expect.poll(() => polls.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(4);
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
  const [first, second, third] = polls;
  expect(new Set([first?.event, second?.event])).toEqual(new Set(followed));
  // Each of the two every two seconds. Timers may be late, but are a millisecond early at most.
  expect((third?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1990);
});

test('what an event refers to is read once for a message, however many get it', async () => {
  const { upstream, events, gateway } = await startLive();
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId project { name } } cursor gap } }';
  await using one = await subscribe(gateway.url, { query });
  await using other = await subscribe(gateway.url, { query });
  await begun(upstream);
  events.add(3, at(1000));
  await Promise.all([one, other].map((heard) => heard.until(() => heard.ids().length === 3)));
  expect(one.messages[0]?.data?.eventsAdded.nodes[0]).toMatchObject({ project: { name: 'Project 1' } });
  expect(upstream.requests.filter((request) => request === 'GET /api/projects/1/')).toHaveLength(1);
});

test('the cost of each message is in it if its client wants that', async () => {
  const { upstream, events, gateway } = await startLive();
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId project { name } } cursor gap } }';
  await using heard = await subscribe(gateway.url, { query, extensions: { cost: true } });
  await begun(upstream);
  for (const [index] of [1, 2].entries()) {
    events.add(1, at(1000 * (index + 1)));
    await heard.until(() => heard.messages.length > index);
  }
  expect(heard.messages).toMatchObject([1, 1].map((actual) => ({ extensions: { cost: { requested: 2, actual } } })));
});

test('@current is the project that the key has open, which is read once', async () => {
  const { upstream, events, gateway } = await startLive();
  await using heard = await subscribe(gateway.url, { query: follow.replace('projectId: 1', 'projectId: "@current"') });
  await begun(upstream, 2);
  events.add(1, at(1000));
  await heard.until(() => heard.ids().length === 1);
  expect(upstream.requests.filter((request) => !request.includes('/events/'))).toEqual(['GET /api/projects/@current/']);
});

test('polls end with the last listener, and begin again with the next one', async () => {
  const { upstream, events, gateway } = await startLive();
  const first = await subscribe(gateway.url);
  await begun(upstream);
  await first[Symbol.asyncDispose]();
  await expect.poll(async () => gateway.gateway.metrics.render()).toContain('gateway_streams 0');
  const { length } = upstream.requests;
  events.add(1, at(1000));
  await using second = await subscribe(gateway.url);
  await begun(upstream, 2);
  const beginning = /events\/\?limit=100&before=[^&]*$/;
  // One poll of the first listener may have been on its way.
  expect(upstream.requests.slice(length).findIndex((line) => beginning.test(line))).toBeOneOf([0, 1]);
  expect(second.messages).toEqual([]);
});

test('more events than one poll reads are a gap, once, and the newest of them are sent', async () => {
  const { upstream, events, gateway } = await startLive({ maxPageSize: 10 });
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const added = Array.from({ length: 150 }, (_, index) => events.add(1, at(1000 + index))).flat();
  await heard.until(() => heard.ids().includes(added.at(-1) ?? ''));
  const later = events.add(3, at(2000));
  await heard.until(() => heard.ids().includes(later.at(-1) ?? ''));
  const gaps = heard.messages.map(({ data }) => data?.eventsAdded.gap);
  expect(gaps.filter((gap) => gap === true)).toHaveLength(1);
  expect(heard.ids()).toEqual([...added, ...later].slice(-heard.ids().length));
  expect(heard.messages.every(({ data }) => (data?.eventsAdded.nodes.length ?? 0) <= 10)).toBe(true);
});

test('each listener gets each event once and in order, in bursts with ties and late arrivals', async () => {
  const { upstream, events, gateway } = await startLive();
  const query = follow.replace('upstreamId', 'upstreamId properties');
  const all = await Promise.all(Array.from({ length: inForm(3, 200) }, () => subscribe(gateway.url, { query })));
  await begun(upstream);
  const { added, late } = await burst(events, inForm(5, 10), () => begun(upstream, 1));
  const expected = added.length + late.length;
  await Promise.all(all.map((heard) => heard.until(() => heard.ids().length >= expected)));
  await begun(upstream, 2);
  for (const heard of all) {
    expect(heard.ids().toSorted()).toEqual([...added, ...late].toSorted());
    expect(heard.ids().filter((id) => !late.includes(id))).toEqual(added);
  }
  await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
});

test('none is lost over three reconnects with `after`, on the same gateway and on another, and none sent twice', async () => {
  const { expected, told } = await reconnecting(10);
  expect(told.toSorted()).toEqual(expected.toSorted());
});

test('none is lost over reconnects if more events come in a minute than a cursor can name', async () => {
  const { expected, told } = await reconnecting(inForm(50, 90));
  expect(expected.filter((id) => !told.includes(id))).toEqual([]);
});

/** Follows events over four connections to two gateways. Returns the ids of those that came, and of those that were told. */
async function reconnecting(size: number): Promise<{ expected: string[]; told: string[] }> {
  await using upstream = await startEvents();
  const { events } = upstream;
  await using one = await startGateway(upstream, { live: quick });
  await using other = await startGateway(upstream, { live: quick });
  const [expected, told]: [string[], string[]] = [[], []];
  let after: string | undefined;
  for (const [turn, gateway] of [one, other, other, one].entries()) {
    // Between two connections events come, too, some of them late.
    if (turn > 0)
      expected.push(...events.add(size, at(10_000 * turn - 1)), ...events.add(2, at(10_000 * turn - 15_000)));
    await using heard = await subscribe(gateway.url, { variables: { after } });
    await begun(upstream, 2);
    expected.push(...events.add(size, at(10_000 * turn + 1000)), ...events.add(size, at(10_000 * turn + 2000)));
    await heard.until(() => new Set(told).union(new Set(heard.ids())).isSupersetOf(new Set(expected)));
    told.push(...heard.ids());
    after = heard.cursor();
  }
  expect([one.reported, other.reported]).toEqual([[], []]);
  return { expected, told };
}

/** Adds bursts of a hundred events, many of one moment, and some that come late. Returns their ids as they should be told. */
async function burst(
  events: GrowingEvents,
  bursts: number,
  polled: () => Promise<void>,
): Promise<{ added: string[]; late: string[] }> {
  const added: string[] = [];
  const late: string[] = [];
  const properties = { $browser: 'Firefox', $current_url: `https://example.com/${'path/'.repeat(40)}` };
  for (let turn = 1; turn <= bursts; turn += 1) {
    for (let group = 0; group < 4; group += 1) added.push(...events.add(24, at(turn * 1000 + group), { properties }));
    await polled();
    late.push(...events.add(4, at(turn * 1000 - 30_000)));
  }
  return { added, late };
}

test.each([
  ['an hour', 3_600_000, 3_600_000],
  // Twenty seconds leave a busy machine the time to begin before the first of them is due.
  ['twenty seconds to a minute', 20_000, 59_000],
])('events that are dated %s ahead blind no subscription', async (_name, from, to) => {
  const { upstream, events, gateway } = await startLive();
  for (let index = 0; index < 1150; index += 1)
    events.add(1, new Date(Date.now() + from + ((to - from) * index) / 1150).toISOString());
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const present = Array.from({ length: 40 }, () => events.add(1, new Date().toISOString())).flat();
  await heard.until(() => heard.ids().length >= present.length);
  expect(heard.ids().slice(0, present.length)).toEqual(present);
  const soon = events.add(1, new Date(Date.now() + 3000).toISOString());
  await heard.until(() => heard.ids().includes(soon[0] ?? ''));
  expect(heard.messages.every(({ data }) => data?.eventsAdded.gap === false)).toBe(true);
});

test('events of the next second that fill all pages of a poll are told as a gap, and hide others for that second only', async () => {
  const { upstream, events, gateway } = await startLive();
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const crowdedAt = Date.now() + 900;
  events.add(1150, new Date(crowdedAt).toISOString());
  await heard.until(() => heard.messages.some(({ data }) => data?.eventsAdded.gap === true));
  const hidden = events.add(1, new Date(crowdedAt - 800).toISOString());
  const later = events.add(1, new Date(crowdedAt + 100).toISOString());
  await heard.until(() => heard.ids().includes(later[0] ?? ''));
  expect(heard.ids()).not.toContain(hidden[0]);
});

test('a subscription that began while the upstream failed gets what is captured meanwhile, and a gap', async () => {
  const events = new GrowingEvents();
  events.add(3, '2024-05-01T10:00:00Z');
  let isDown = true;
  const { upstream, gateway } = await startBoth(
    {
      'GET /api/projects/1/events/': (request) =>
        isDown ? refusal(503, 'error', 'It is down.') : events.list(request),
    },
    { live: quick },
    { hold: 0 },
  );
  await using heard = await subscribe(gateway.url);
  await begun(upstream);
  const meanwhile = Array.from({ length: 20 }, () => events.add(1, new Date().toISOString())).flat();
  isDown = false;
  await heard.until(() => heard.ids().length >= meanwhile.length);
  expect(heard.ids()).toEqual(meanwhile);
  expect(heard.messages.map(({ data }) => data?.eventsAdded.gap)).toEqual([true]);
  const after = events.add(1, new Date().toISOString());
  await heard.until(() => heard.messages.length > 1);
  expect(heard.ids()).toEqual([...meanwhile, ...after]);
  expect(heard.messages.at(-1)?.data?.eventsAdded.gap).toBe(false);
});
