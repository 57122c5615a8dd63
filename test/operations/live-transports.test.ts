import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { key, type TestGateway } from '../support/gateway.ts';
import { follow, GrowingEvents, quick, subscribe } from '../support/live.ts';
import { createFolder } from '../support/persisted.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';

const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
const multipart = 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0",application/json';

/** Subscribes with this `Accept` header. */
function post({ url }: TestGateway, accept: string, query = 'subscription { eventsAdded(projectId: 1) { gap } }') {
  return fetch(url, { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify({ query }) });
}

async function textUntil({ body }: Response, found: (text: string) => boolean): Promise<string> {
  let text = '';
  if (body === null) return text;
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (found(text)) break;
  }
  return text;
}

/** A project of which an event is added with each request, after the first. */
function everNew(): GrowingEvents['list'] {
  const events = new GrowingEvents();
  let polls = 0;
  return (request) => {
    polls += 1;
    events.add(1, new Date(Date.parse('2024-05-01T10:00:00Z') + polls * 1000).toISOString());
    return events.list(request);
  };
}

test('server-sent events: headers at once that no proxy buffers, a comment first, one event for each message', async () => {
  const { gateway } = await startBoth({ 'GET /api/projects/1/events/': everNew() }, { live: quick });
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { upstreamId } gap } }';
  const response = await post(gateway, 'text/event-stream', query);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
    'cache-control': 'no-store, no-transform',
  });
  const text = await textUntil(response, (all) => all.includes('event: next'));
  const id = '018f1c4e-0000-7000-8000-000000000002';
  expect(text).toBe(
    `:\n\nevent: next\ndata: {"data":{"eventsAdded":{"nodes":[{"upstreamId":"${id}"}],"gap":false}}}\n\n`,
  );
});

test('multipart: a client that takes JSON too and names the form is sent each message as a part that ends at once', async () => {
  const { gateway } = await startBoth({ 'GET /api/projects/1/events/': everNew() }, { live: quick });
  const response = await post(gateway, multipart);
  expect(response.headers.get('content-type')).toBe('multipart/mixed; boundary="-"; subscriptionSpec="1.0"');
  const text = await textUntil(response, (all) => all.includes('payload'));
  expect(text).toBe(
    '\r\n---\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{"payload":{"data":{"eventsAdded":{"gap":false}}}}\r\n---',
  );
});

test.each([
  ['Apollo Kotlin', 'multipart/mixed;subscriptionSpec=1.0, application/graphql-response+json, application/json', '1.0'],
  ['Apollo iOS', 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json', '1.0'],
  ['a client that quotes it', 'multipart/mixed; subscriptionSpec="1.0"', '"1.0"'],
])('multipart: %s gets the form as it spells it, which iOS compares letter by letter', async (_name, accept, told) => {
  const { gateway } = await startBoth({}, { live: quick });
  const response = await post(gateway, accept);
  expect(response.headers.get('content-type')).toBe(`multipart/mixed; boundary="-"; subscriptionSpec=${told}`);
  await response.text();
});

test('multipart: an error that ends the stream is one of the transport', async () => {
  const { gateway } = await startBoth({}, { live: quick });
  const response = await post(gateway, multipart);
  const text = await response.text();
  expect(text).toMatch(/\r\n\r\n\{"payload":null,"errors":\[\{.*"code":"NOT_FOUND".*\}\]\}\r\n-----\r\n$/);
});

test.each([
  ['a browser sends it for an EventSource', 'text/event-stream'],
  ['a client sends it that takes any text', 'TEXT/*;q=0.1, application/json'],
])('a subscription may come by GET, as %s', async (_client, accept) => {
  const { gateway } = await startBoth({ 'GET /api/projects/1/events/': everNew() }, { live: quick });
  const query = encodeURIComponent('subscription { eventsAdded(projectId: 1) { gap } }');
  const response = await fetch(`${gateway.url}?query=${query}`, {
    headers: { ...headers, accept },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(await textUntil(response, (all) => all.includes('event: next'))).toContain('"gap":false');
});

test('HEAD gets the headers of a stream, which ends with them', async () => {
  const { gateway } = await startBoth({ 'GET /api/projects/1/events/': everNew() }, { live: quick });
  const query = encodeURIComponent('subscription { eventsAdded(projectId: 1) { gap } }');
  for (const accept of ['text/event-stream', multipart]) {
    const response = await fetch(`${gateway.url}?query=${query}`, { method: 'HEAD', headers: { ...headers, accept } });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
    expect(response.headers.get('content-type')).toContain(accept.slice(0, 10));
  }
  await expect.poll(() => gateway.gateway.metrics.render()).toContain('\ngateway_streams 0\n');
});

describe('is refused without a call', () => {
  test.each([
    ['a client that takes JSON only', 'application/json', 406, 'BAD_USER_INPUT'],
    ['a client that takes any multipart', 'multipart/mixed', 406, 'BAD_USER_INPUT'],
  ])('%s', async (_client, accept, status, code) => {
    const { upstream, gateway } = await startBoth({}, { live: quick });
    const response = await post(gateway, accept, follow);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(`"code":"${code}"`)]);
    expect(upstream.requests).toEqual([]);
  });

  test.each([
    ['occurredAfter', { filter: { occurredAfter: '2024-05-01T10:00:00Z' } }],
    ['occurredBefore', { filter: { occurredBefore: '2024-05-01T10:00:00Z' } }],
    ['a cursor that is not one', { after: 'x' }],
    ['a filter that is not one', { filter: { page: 1 } }],
  ])('%s', async (_what, variables) => {
    const { upstream, gateway } = await startBoth({}, { live: quick });
    await using heard = await subscribe(gateway.url, { variables });
    await heard.until(() => heard.ended !== undefined);
    expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]);
    expect([upstream.requests, gateway.reported]).toEqual([[], []]);
  });

  test.each(['x', '1/..', '', 'RGFzaGJvYXJkOjE6Mg', '1'.repeat(10_000)])('a project %j', async (id) => {
    const { upstream, gateway } = await startBoth({}, { live: quick });
    const query = 'subscription ($id: ID!) { eventsAdded(projectId: $id) { gap } }';
    await using heard = await subscribe(gateway.url, { query, variables: { id } });
    await heard.until(() => heard.ended !== undefined);
    expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]);
    expect(JSON.stringify(heard.messages).length).toBeLessThan(600);
    expect(upstream.requests).toEqual([]);
  });

  test('one without a key', async () => {
    const { upstream, gateway } = await startBoth({}, { live: quick });
    await using heard = await subscribe(gateway.url, { headers: { authorization: '' } });
    await heard.until(() => heard.ended !== undefined);
    expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    expect(upstream.requests).toEqual([]);
  });

  test('any if subscriptions are off, which is said: the schema has none', async () => {
    const { gateway } = await startBoth({});
    const answer = await gateway.ask('{ __schema { subscriptionType { name } } __type(name: "EventsAdded") { name } }');
    expect(answer.data).toEqual({ __schema: { subscriptionType: null }, __type: null });
    await using heard = await subscribe(gateway.url);
    await heard.until(() => heard.ended !== undefined);
    const message = 'Subscriptions are off here: the gateway offers them if its setting LIVE is on.';
    expect(heard.messages).toMatchObject([
      { errors: [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
    ]);
  });
});

test('a cursor is good for the same events only', async () => {
  const { gateway } = await startBoth(
    {
      'GET /api/projects/1/events/': everNew(),
      'GET /api/projects/2/events/': everNew(),
    },
    { live: quick },
  );
  await using heard = await subscribe(gateway.url);
  await heard.until(() => heard.messages.length > 0);
  const after = heard.cursor();
  for (const variables of [{ after, filter: { event: 'a' } }, { after: `${after}A` }]) {
    await using refused = await subscribe(gateway.url, { variables });
    await refused.until(() => refused.ended !== undefined);
    expect(refused.messages).toMatchObject([{ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]);
  }
  const ofOther = follow.replace('projectId: 1', 'projectId: 2');
  await using other = await subscribe(gateway.url, { query: ofOther, variables: { after } });
  await other.until(() => other.ended !== undefined);
  expect(other.messages).toMatchObject([{ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] }]);
  const page = await gateway.ask(
    'query ($after: String) { project(id: 1) { events(after: $after) { nodes { id } } } }',
    {
      variables: { after },
    },
  );
  expect(page.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('a listed document is followed by its id if only listed ones run, with a token', async () => {
  using folder = createFolder();
  const id = 'a'.repeat(64);
  const body = follow.replace('subscription', 'subscription Tail');
  const operations = [{ id, name: 'Tail', type: 'subscription', body }];
  const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations };
  await using upstream = await startUpstream({ 'GET /api/projects/1/events/': everNew() });
  const persisted = { files: folder.write('manifest.json', manifest), mode: 'only' } as const;
  const entries = { acme: { key: 'phx_acme', projects: ['1'] } };
  await using gateway = await startTenants(upstream, entries, { live: quick, persisted });
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { ...headers, ...(await gateway.headersOf('acme')), accept: 'text/event-stream' },
    body: JSON.stringify({ documentId: id }),
  });
  expect(await textUntil(response, (all) => all.includes('event: next'))).toContain('"gap":false');
  await using unlisted = await subscribe(gateway.url, { headers: await gateway.headersOf('acme') });
  expect(unlisted.status).toBe(403);
});

test('the plan of a subscription is answered without a poll', async () => {
  const { upstream, gateway } = await startBoth({}, { live: quick, explain: true });
  const query = 'subscription { eventsAdded(projectId: 1) { nodes { event project { name } } } }';
  const { extensions } = await gateway.ask(query, { extensions: { explain: 'plan' } });
  expect(extensions).toMatchObject({
    explain: { lower: 1, upper: 2, rows: 101, calls: [{ operation: 'listEvents' }, { operation: 'getProject' }] },
  });
  expect(upstream.requests).toEqual([]);
});
