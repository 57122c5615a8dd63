import { afterAll, describe, expect, test } from 'vitest';
import { views } from '../../src/rest/generated/views.ts';
import { membersOf, resultsOf, rowsOf, startClient } from './client.ts';

describe.each(['offset', 'before'] as const)('with WORKSPACE_EVENTS_NEXT=%s', async (eventsNext) => {
  // Nothing here writes, so that one workspace serves all.
  const client = await startClient({ eventsNext });
  afterAll(() => client[Symbol.asyncDispose]());

  const base = '/api/projects/1/events/';
  const text: unknown = expect.any(String);

  test('an event has every field, in the forms of the known deployment', async () => {
    const events = resultsOf(await client.read(`${base}?limit=1000`));
    for (const event of events) {
      expect(Object.keys(event).toSorted()).toEqual([...views.Event.detail].toSorted());
      expect(event.timestamp).toMatch(/^2026-1[01]-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/);
      membersOf(event.properties);
      rowsOf(event.elements);
    }
    expect(events.some(({ person }) => person === null)).toBe(true);
    expect(events.some(({ timestamp }) => !String(timestamp).includes('.'))).toBe(true);
    expect(events.find(({ person }) => person !== null)?.person).toMatchObject({
      is_identified: true,
      distinct_ids: [text],
      properties: { email: text, plan: text },
    });
  });

  test('a click has its element, as an object and in the notation of the service', async () => {
    const [click] = resultsOf(await client.read(`${base}?event=$autocapture&limit=1`));
    const [element] = rowsOf(click?.elements);
    expect(element).toMatchObject({ tag_name: 'button' });
    expect(click?.elements_chain).toContain(`text="${String(element?.text)}"`);
  });

  test('an event is read by its id, within its project only', async () => {
    const [event] = resultsOf(await client.read(`${base}?limit=1`));
    expect(await client.read(`${base}${String(event?.id)}/`)).toEqual(event);
    expect((await client.send('GET', `/api/projects/2/events/${String(event?.id)}/`)).status).toBe(404);
  });

  test('numbers beyond 2^53 keep their digits', async () => {
    const response = await fetch(`${client.url}${base}?event=booking%20completed&limit=1`, {
      headers: { authorization: 'Bearer phx_demo_fernweh_travel' },
    });
    const digits = /"booking_number":(\d+)/.exec(await response.text())?.[1];
    expect(Number.isSafeInteger(Number(digits))).toBe(false);
    const wanted = `[{"key":"booking_number","value":${String(digits)}}]`;
    expect(resultsOf(await client.read(`${base}?properties=${wanted}`))).toHaveLength(1);
  });

  test('the values of a property come as names, the most frequent first', async () => {
    const events = resultsOf(await client.read(`${base}?limit=1000&event=$pageview`));
    const counts = Object.entries(Object.groupBy(events, ({ properties }) => String(membersOf(properties).$browser)));
    const names = counts
      .toSorted(([, one = []], [, other = []]) => other.length - one.length)
      .map(([name]) => ({ name }));
    expect(await client.read(`${base}values/?key=$browser&event_name=$pageview`)).toEqual(names);
    expect(names).toHaveLength(4);
  });

  test('the values of a property that is never set are an empty list', async () => {
    expect(await client.read(`${base}values/?key=nothing`)).toEqual([]);
    expect(await client.read(`${base}values/?key=constructor`)).toEqual([]);
    expect(await client.read(`${base}values/?key=$browser&event_name=nothing`)).toEqual([]);
  });

  test('values need a key', async () => {
    const refused = await client.send('GET', `${base}values/`);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ type: 'validation_error', code: 'required', attr: 'key' });
  });

  test('a list as CSV has a line of names and a line for each event', async () => {
    const events = resultsOf(await client.read(`${base}?limit=2`));
    const { status, headers, body } = await client.send('GET', `${base}?limit=2&format=csv`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [names, first, second, end, ...rest] = String(body).split('\r\n');
    expect(names).toMatch(/^id,distinct_id,properties\.\$lib,.*event,timestamp,person\.id,/);
    expect([first, second].map((line) => line?.split(',')[0])).toEqual(events.map(({ id }) => id));
    expect([end, rest]).toEqual(['', []]);
  });

  test('an event as CSV, and values as CSV', async () => {
    const [event] = resultsOf(await client.read(`${base}?limit=1`));
    const one = await client.send('GET', `${base}${String(event?.id)}/?format=csv`);
    expect(String(one.body)).toContain(`\r\n${String(event?.id)},${String(event?.distinct_id)},`);
    const values = await client.send('GET', `${base}values/?key=$lib&format=csv`);
    expect(values.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(values.body).toBe('name\r\nweb\r\n');
  });

  test('commas and quotes in CSV are quoted', async () => {
    const select = JSON.stringify(['event', "'a,\"b'"]);
    const { body } = await client.send(
      'GET',
      `${base}?limit=1&format=csv&event=$pageview&select=${encodeURIComponent(select)}`,
    );
    expect(body).toBe('event,"\'a,""b\'"\r\n$pageview,"a,""b"\r\n');
  });

  test('a failure of a CSV request has no body', async () => {
    const { status, body } = await client.send('GET', `${base}?format=csv&after=never`);
    expect({ status, body }).toEqual({ status: 400, body: '' });
  });

  test.each(['', 'x/', 'values/'])('an unknown format of events/%s is refused', async (path) => {
    const { status, body } = await client.send('GET', `${base}${path}?format=xml&key=x`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_choice', attr: 'format' });
  });
});
