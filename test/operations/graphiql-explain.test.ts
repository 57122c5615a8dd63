import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { type TestGateway } from '../support/gateway.ts';
import { readGraphiql } from '../support/graphiql.ts';

type Fetch = (url: string, options: object) => Promise<Response>;

/** The `fetch` that the page of GraphiQL makes of the one of its browser. */
function fetchOf(page: string, fetchOfBrowser: Fetch, keptKey: string | null = null): Fetch {
  const [settings = '', requests = ''] = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => script,
  );
  const window = { fetch: fetchOfBrowser };
  runInNewContext(`${settings}\n${requests}`, {
    ...{ window, Response, URL, location: { href: 'http://127.0.0.1/graphql' } },
    sessionStorage: { getItem: () => keptKey },
  });
  return window.fetch;
}

/** The request that the page of GraphiQL sends when its editor fetches. */
async function sentFrom(page: string, headers: object, query: string, keptKey?: string): Promise<unknown> {
  const sent: unknown[] = [];
  const fetchInPage = fetchOf(
    page,
    async (...request) => {
      sent.push(...request);
      return Response.json({});
    },
    keptKey,
  );
  await fetchInPage('/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
  return JSON.parse(JSON.stringify(sent));
}

/** The page of GraphiQL, and the text of the script that it asks for. */
async function pageOf({ url }: TestGateway): Promise<string> {
  const { html, script } = await readGraphiql(url);
  const response = await fetch(new URL(script, url));
  return `${html}\n${await response.text()}`;
}

test('GraphiQL sends the header explain as the extension, but not when it reads the schema', async () => {
  const { gateway } = await startBoth({}, { explain: true });
  const page = await pageOf(gateway);
  const [key, query] = [{ authorization: 'Bearer phx_a' }, '{ projects { totalCount } }'];
  const body = (params: object): string => JSON.stringify(params);
  expect(page).toContain('panel.trace');
  expect(await sentFrom(page, { ...key, explain: 'plan' }, query)).toEqual([
    '/graphql',
    { method: 'POST', headers: key, body: body({ query, extensions: { explain: 'plan', cost: true } }) },
  ]);
  const schema = '{ __schema { types { name } } }';
  expect(await sentFrom(page, { ...key, explain: 'plan' }, schema)).toEqual([
    '/graphql',
    { method: 'POST', headers: key, body: body({ query: schema }) },
  ]);
  expect(await sentFrom(page, key, query)).toEqual([
    '/graphql',
    { method: 'POST', headers: key, body: body({ query }) },
  ]);
  expect(page).toContain('query Explain');
});

test('GraphiQL sends the key of the page, unless the tab has one of its own', async () => {
  const { gateway } = await startBoth({});
  const page = await pageOf(gateway);
  const query = '{ __typename }';
  const body = JSON.stringify({ query });
  expect(await sentFrom(page, { a: 'b' }, query, 'phx_kept')).toEqual([
    '/graphql',
    { method: 'POST', headers: { a: 'b', authorization: 'Bearer phx_kept' }, body },
  ]);
  const own = { Authorization: 'Bearer phx_own' };
  expect(await sentFrom(page, own, query, 'phx_kept')).toEqual(['/graphql', { method: 'POST', headers: own, body }]);
});

test('GraphiQL gets data, if empty, with a plan, and answers with errors as they are', async () => {
  const { gateway } = await startBoth({}, { explain: true });
  const page = await pageOf(gateway);
  const options = { method: 'POST', headers: { explain: 'plan' }, body: JSON.stringify({ query: '{ a }' }) };
  const shownFor = async (answer: object): Promise<unknown> =>
    (await fetchOf(page, async () => Response.json(answer))('/graphql', options)).json();
  expect(await shownFor({ data: null, extensions: {} })).toEqual({ data: {}, extensions: {} });
  const refused = { data: null, errors: [{ message: 'No.' }] };
  expect(await shownFor(refused)).toEqual(refused);
});

test('GraphiQL asks for a plan or a trace of a stream in its address, and for parts of what defers', async () => {
  const { gateway } = await startBoth({}, { explain: true });
  const sent: unknown[] = [];
  const fetchInPage = fetchOf(await pageOf(gateway), async (...request) => {
    sent.push(...request);
    return Response.json({});
  });
  await fetchInPage('http://127.0.0.1/graphql?query=a', { method: 'GET', headers: { explain: 'trace' } });
  const [address] = sent.splice(0);
  expect(new URL(String(address)).searchParams.get('extensions')).toBe('{"explain":"trace","cost":true}');
  const body = JSON.stringify({ query: '{ a { ... @defer { b } } }' });
  await fetchInPage('/graphql', { method: 'POST', headers: { accept: 'application/json' }, body });
  const headers = { accept: 'multipart/mixed; deferSpec=20220824, application/json' };
  expect(JSON.parse(JSON.stringify(sent))).toEqual(['/graphql', { method: 'POST', headers, body }]);
});

test('GraphiQL says nothing of explain if it is switched off', async () => {
  const { gateway } = await startBoth({}, { explain: false });
  const page = await pageOf(gateway);
  expect(page).not.toContain('query Explain');
  for (const trace of ['rest-calls', 'REST calls"', 'panel.trace']) expect(page).not.toContain(trace);
});
