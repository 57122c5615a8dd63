/** Clients that take answers in parts, against a running gateway; docs/incremental.md says what each of them speaks. */
import { spawn } from 'node:child_process';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runMain } from '../support/process.ts';
import { sendRaw } from '../support/raw-http.ts';
import type { Handler } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const query = `
  query Page($id: ID!) {
    project(id: $id) { id dashboards(first: 1) { nodes { id name ... @defer(label: "details") { tiles } } } }
  }`;

const name = 'Dashboard 1';
const tile = 'What it shows';

const key = 'phx_test';
const started = new AsyncDisposableStack();
let url = '';
/** The details of the dashboard wait for it. */
let shown = Promise.withResolvers<void>();

const details: Handler = () => shown.promise.then(() => dashboard(1, { tiles: [{ text: tile }] }));

beforeAll(async () => {
  const upstream = started.use(
    await startUpstream({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': { count: 1, next: null, previous: null, results: [listedDashboard(1)] },
      'GET /api/projects/1/dashboards/1/': details,
    }),
  );
  const gateway = started.use(runMain([], { PORT: '0', UPSTREAM_URL: upstream.url }));
  [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
}, 60_000);

beforeEach(() => {
  shown = Promise.withResolvers();
});

afterAll(() => started.disposeAsync());

function shownOf(data: unknown): readonly [unknown, unknown] {
  const text = JSON.stringify(data ?? null);
  return [/"name":"([^"]*)"/.exec(text)?.[1], /"text":"([^"]*)"/.exec(text)?.[1]];
}

test.each([
  ['Defer20220824Handler', () => new Defer20220824Handler()],
  ['GraphQL17Alpha9Handler', () => new GraphQL17Alpha9Handler()],
] as const)('Apollo Client shows the first part before the rest with its %s', async (_name, handler) => {
  const link = new HttpLink({ uri: url, headers: { authorization: `Bearer ${key}` } });
  const options: ApolloClient.Options = { link, cache: new InMemoryCache() };
  // The types of one of them do not fit its own library's under `exactOptionalPropertyTypes`.
  const client = new ApolloClient(Object.assign(options, { incrementalHandler: handler() }));
  const seen: unknown[] = [];
  const complete = Promise.withResolvers<void>();
  client.watchQuery({ query: gql(query), variables: { id: '1' } }).subscribe(({ data, dataState, error }) => {
    if (error !== undefined) complete.reject(error);
    if (dataState === 'empty') return;
    seen.push(shownOf(data));
    if (dataState === 'complete') complete.resolve();
    else shown.resolve();
  });
  await complete.promise;
  expect(seen).toEqual([
    [name, undefined],
    [name, tile],
  ]);
});

test.each(['multipart/mixed;incrementalSpec=v0.2', 'multipart/mixed;deferSpec=20220824'])(
  'urql shows the first part before the rest if it accepts %s',
  async (accept) => {
    const fetchOptions = { headers: { authorization: `Bearer ${key}`, accept } };
    const client = new UrqlClient({ url, fetchOptions, exchanges: [fetchExchange] });
    const seen: unknown[] = [];
    const complete = Promise.withResolvers<void>();
    client.query<unknown>(query, { id: '1' }).subscribe(({ data, error, hasNext }) => {
      if (error !== undefined) complete.reject(error);
      seen.push(shownOf(data));
      if (hasNext) shown.resolve();
      else complete.resolve();
    });
    await complete.promise;
    expect(seen.at(0)).toEqual([name, undefined]);
    expect(seen.at(-1)).toEqual([name, tile]);
  },
);

test('urql gets one document with the media types that it accepts by itself', async () => {
  shown.resolve();
  const fetchOptions = { headers: { authorization: `Bearer ${key}` } };
  const client = new UrqlClient({ url, fetchOptions, exchanges: [fetchExchange] });
  const { data, hasNext } = await client.query<unknown>(query, { id: '1' });
  expect([shownOf(data), hasNext]).toEqual([[name, tile], false]);
});

test('curl -N prints each part as it comes', async () => {
  const body = JSON.stringify({ query, variables: { id: '1' } });
  const headers = [
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    'accept: multipart/mixed;incrementalSpec=v0.2',
  ];
  const args = ['-sN', '--compressed', '-d', body, ...headers.flatMap((header) => ['-H', header]), url];
  const { stdout } = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const text of stdout.setEncoding('utf8')) {
    printed += text;
    if (printed.includes(name)) shown.resolve();
  }
  const parts = printed.split('\r\n---').filter((part) => part.includes('{'));
  expect(parts.map((part) => [part.includes(name), part.includes(tile)])).toEqual([
    [true, false],
    [false, true],
  ]);
});

test.each([
  ['Apollo Kotlin', 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json'],
  ['Apollo iOS', 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json'],
])(
  '%s gets whole fragments in the format that it names, and one document for what defers nothing',
  async (_name, accept) => {
    shown.resolve();
    const send = (text: string) =>
      sendRaw(url, {
        headers: ['authorization', `Bearer ${key}`, 'content-type', 'application/json', 'accept', accept],
        body: JSON.stringify({ query: text, variables: { id: '1' } }),
      });
    const deferring = query.replace('{ tiles }', '{ name tiles }');
    const { headers, body } = await send(deferring);
    expect(headers['content-type']).toBe('multipart/mixed; boundary="-"; deferSpec=20220824');
    expect(body).toContain(
      `{"data":{"name":"${name}","tiles":[{"text":"${tile}"}]},"path":["project","dashboards","nodes",0],"label":"details"}`,
    );
    const whole = await send('query Page($id: ID!) { project(id: $id) { id } }');
    expect(whole.headers['content-type']).toBe('application/graphql-response+json; charset=utf-8');
  },
);
