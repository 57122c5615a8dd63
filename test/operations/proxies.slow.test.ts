import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { readGraphiql } from '../support/graphiql.ts';
import { follow, GrowingEvents, quick, subscribe } from '../support/live.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { sendForBytes } from '../support/raw-http.ts';
import { hasProxy, proxyNames, startReverseProxy } from '../support/reverse-proxies.ts';
import { project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const formats = ['v0.2', '20220824'] as const;
const codings = ['identity', 'gzip', 'br'] as const;
const cases = formats.flatMap((format) => codings.map((coding) => [format, coding] as const));

const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';

function startHeld(held: Promise<void>): Promise<Upstream> {
  return startUpstream(
    {
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': () => held.then(() => ({ count: 0, next: null, previous: null, results: [] })),
    },
    { quiet: 1 },
  );
}

describe.each(proxyNames)('behind %s, with the snippet of the page', (name) => {
  test.skipIf(!hasProxy(name)).each(cases)(
    'the first part of %s in %s arrives before the last is made, and the answer ends as it should',
    async (format, coding) => {
      const held = Promise.withResolvers<void>();
      await using upstream = await startHeld(held.promise);
      await using gateway = await startGateway(upstream);
      await using proxy = await startReverseProxy(name, gateway.url);
      const headers = { 'accept-encoding': coding };
      const { headers: answered, parts } = await askForParts(proxy.url, query, accepts[format], { headers });
      expect(answered.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
      expect(await parts.next()).toMatchObject({ value: { data: { project: { name: 'Project 1' } }, hasNext: true } });
      held.resolve();
      expect(await Array.fromAsync(parts)).toMatchObject([{ hasNext: false }]);
      expect(gateway.reported).toEqual([]);
    },
  );

  test.skipIf(!hasProxy(name))('messages of a stream arrive one by one', async () => {
    const events = new GrowingEvents();
    events.add(1, '2024-05-01T10:00:00Z');
    await using upstream = await startUpstream({ 'GET /api/projects/1/events/': events.list });
    upstream.release();
    await using gateway = await startGateway(upstream, { live: quick });
    await using proxy = await startReverseProxy(name, gateway.url);
    await using heard = await subscribe(proxy.url, { query: follow, headers: { 'accept-encoding': 'gzip, br' } });
    await expect.poll(() => upstream.requests.length).toBeGreaterThan(1);
    for (const second of ['01', '02', '03']) {
      const added = events.add(1, `2024-05-01T10:00:${second}Z`);
      await heard.until(() => heard.ids().at(-1) === added[0]);
    }
  });

  test.skipIf(!hasProxy(name))("the script of GraphiQL's page arrives", async () => {
    await using upstream = await startUpstream({});
    await using gateway = await startGateway(upstream);
    await using proxy = await startReverseProxy(name, gateway.url);
    const { script } = await readGraphiql(proxy.url);
    const headers = ['accept-encoding', 'br'];
    const [through, direct] = await Promise.all(
      [proxy, gateway].map(({ url }) => sendForBytes(url, { method: 'GET', path: script, headers })),
    );
    expect(through?.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': direct?.headers['cache-control'],
    });
    expect(through?.body.equals(direct?.body ?? Buffer.of())).toBe(true);
  });
});
