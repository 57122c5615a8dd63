import { afterAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { runScript } from '../support/process.ts';
import { startUpstream } from '../support/upstream.ts';
import { membersOf, resultsOf, startClient } from '../workspace/client.ts';
import { samples, targetIn } from '../workspace/samples.ts';

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());

const client = started.use(await startClient());
const url = await startPrism(client.url);
const [event] = resultsOf(await client.read('/api/projects/1/events/?limit=1'));

/** Starts Prism in front of a service, and answers its URL. It answers violations itself, as `application/problem+json`. */
async function startPrism(upstream: string): Promise<string> {
  const port = String(await freePort());
  const proxy = started.use(runScript('test/prism', 'proxy', { UPSTREAM: upstream, PORT: port }));
  await proxy.printed(/Prism is listening/);
  return `http://127.0.0.1:${port}`;
}

function send(method: string, target: string, body: object | undefined): Promise<Response> {
  const headers = { authorization: 'Bearer phx_demo_fernweh_travel' };
  if (body === undefined) return fetch(target, { method, headers });
  return fetch(target, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test.each(samples.map((sample) => ({ ...sample, target: targetIn(sample, String(event?.id)) })))(
  'Prism finds no violation in $method $target',
  async ({ method, path, target, body }) => {
    const answer = await send(method, url + target, body);
    const refused = method === 'DELETE' && path.includes('dashboards');
    const type = answer.headers.get('content-type');
    expect(type === 'application/problem+json' ? await answer.text() : 'no violation').toBe('no violation');
    expect(answer.headers.get('sl-violations')).toBeNull();
    expect(answer.ok || (refused && answer.status === 405)).toBe(true);
  },
);

test.each([
  ['PATCH', '/api/projects/1/dashboards/1/', { restriction_level: 5 }, 'restriction_level'],
  ['GET', '/api/projects/1/events/?format=xml', undefined, 'format'],
])('Prism refuses what the document does not allow: %s %s %j', async (method, target, body, field) => {
  const answer = await send(method, url + target, body);
  const problem = membersOf(await answer.json());
  expect([answer.status, answer.headers.get('content-type')]).toEqual([422, 'application/problem+json']);
  expect(JSON.stringify(problem.validation)).toContain(field);
});

test('Prism refuses an answer that the document does not allow', async () => {
  await using upstream = await startUpstream({ 'GET /api/projects/': { count: 1, results: 5 } });
  const answer = await send('GET', `${await startPrism(upstream.url)}/api/projects/`, undefined);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json']);
  expect(await answer.text()).toContain('results');
});
