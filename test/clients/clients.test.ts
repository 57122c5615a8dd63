/**
 * Client libraries as they are, against running gateways. `npm run matrix` writes into README.md which of them passed
 * the tests of each way of sending documents.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { apollo } from './apollo/apollo.ts';
import { apolloIos } from './apollo-ios/apollo-ios.ts';
import { apolloKotlin } from './apollo-kotlin/apollo-kotlin.ts';
import { codegen } from './codegen/codegen.ts';
import { graphqlRequest } from './graphql-request/graphql-request.ts';
import { describeAndRefetch, relay } from './relay/relay.ts';
import type { Client, Connect } from './support/client.ts';
import { type Gateways, type RunningGateway, startGateways } from './support/gateways.ts';
import { withMatrix } from './support/matrix.ts';
import { watch } from './support/traffic.ts';
import { urql } from './urql/urql.ts';

const clients = [apollo, urql, relay, graphqlRequest, codegen, apolloKotlin, apolloIos];
const found = new Map<string, string>();
const started = new AsyncDisposableStack();
let gateways: Gateways;
let described = 0;

beforeAll(async () => {
  gateways = await startGateways(started);
}, 60_000);

afterAll(() => started.disposeAsync());

afterEach(({ task }) => {
  found.set(`${task.suite?.name}: ${task.name}`, task.result?.errors === undefined ? 'yes' : 'no');
});

describe.each(clients)('$name', (client) => {
  const { text, listedText, automatic, listed } = client;
  if (text !== undefined) textCell(text);
  if (listedText !== undefined) listedTextCell(listedText);
  if (automatic !== undefined) automaticCells(automatic, clients.indexOf(client));
  if (listed !== undefined) listedCells(listed);
  if (listed !== undefined) tokenCell(listed);
  if (listed !== undefined && automatic === undefined) unlistedCell(listed);
});

test('the documented matrix is what this run found', () => {
  const file = new URL('README.md', import.meta.url);
  const expected = withMatrix(readFileSync(file, 'utf8'), clients, found);
  if (process.env['MATRIX'] === 'write') writeFileSync(file, expected);
  expect(readFileSync(file, 'utf8'), 'npm run matrix writes it').toBe(expected);
});

test('Relay reads a dashboard again by its id, through node', async () => {
  const endpoint = watch(gateways.listed);
  const elsewhere = graphqlRequest.text?.(watch(gateways.listed));
  const describeElsewhere = async () => elsewhere?.describe({ id: '1', projectId: '1', description: 'Elsewhere' });
  const { before, after } = await describeAndRefetch(endpoint, 'Here', describeElsewhere);
  expect([before.description, after.description]).toEqual(['Here', 'Elsewhere']);
  expect(endpoint.traffic.map(carried)).toEqual(['id', 'id']);
});

test.each([
  [apollo, { data: { project: { name: 'Booking website' } } }, ['POST id', 'POST text']],
  [urql, { data: { project: { name: 'Booking website' } } }, ['GET id', 'GET text']],
  [apolloKotlin, { code: 'AutoPersistedQueriesNotSupported' }, ['GET id']],
  [apolloIos, { code: 'PERSISTED_QUERY_NOT_SUPPORTED' }, ['POST id']],
])('$name does what it is made to do if automatic persisted queries are off', async (client, outcome, sent) => {
  const endpoint = watch(gateways.withoutApq);
  const text = 'query Off { project(id: "1") { name } }';
  expect(await client.automatic?.ask(endpoint, text)).toMatchObject(outcome);
  expect(endpoint.traffic.map((line) => line.replace(/:.*/, ''))).toEqual(sent);
});

test.each([
  [apolloKotlin, 'GET id: 401 UNAUTHENTICATED'],
  [apolloIos, 'POST id: 401 UNAUTHENTICATED'],
])('$name tells the app that its token has expired, and asks no second time', async (client, line) => {
  const endpoint = watch(gateways.expired);
  const text = 'query Late { project(id: "1") { name } }';
  expect(await client.automatic?.ask(endpoint, text)).toEqual({ code: 'UNAUTHENTICATED' });
  expect(endpoint.traffic).toEqual([line]);
});

test.each([
  [apolloKotlin, 'AutoPersistedQueriesNotSupported'],
  [apolloIos, 'PERSISTED_QUERY_NOT_SUPPORTED'],
])('$name runs no document that is not listed, though its token is good', async (client, code) => {
  const endpoint = watch(gateways.tenants);
  expect(await client.automatic?.ask(endpoint, 'query Unlisted { project(id: "1") { name } }')).toEqual({ code });
  expect(endpoint.traffic).toHaveLength(1);
});

test('an app whose documents are not listed learns why they are refused in mode `only`', async () => {
  const asked = urql.text?.(watch(gateways.only)).overview('1');
  await expect(asked).rejects.toThrow('Only documents listed in the manifest are run');
});

function textCell(text: Connect): void {
  test('text: sends its documents as they are', async () => {
    const traffic = await use(text, gateways.plain);
    expect(traffic.map(carried)).toEqual(['text', 'text', 'text', 'text']);
  });
}

function listedTextCell(listedText: Connect): void {
  test('mode `only`: sends texts that are listed if nothing else is run', async () => {
    const traffic = await use(listedText, gateways.only);
    expect(traffic.map(carried)).toEqual(['text', 'text', 'text', 'text']);
  });
}

function automaticCells({ get, post, ask }: NonNullable<Client['automatic']>, index: number): void {
  test('APQ GET: registers its documents, then asks for them by hash, queries by GET', async () => {
    await use(get, gateways.plain);
    const traffic = await use(get, gateways.plain);
    expect(traffic).toEqual(['GET id: 200', 'GET id: 200', 'GET id: 200', 'POST id: 200']);
  });

  test('APQ POST: registers its documents, then asks for them by hash', async () => {
    await use(post, gateways.plain);
    const traffic = await use(post, gateways.plain);
    expect(traffic).toEqual(['POST id: 200', 'POST id: 200', 'POST id: 200', 'POST id: 200']);
  });

  test('miss: sends the text with the hash once, and its caller notices nothing', async () => {
    const endpoint = watch(gateways.plain);
    const text = `query Miss${index} { project(id: "1") { name } }`;
    const outcome = { data: { project: { name: 'Booking website' } } };
    expect([await ask(endpoint, text), await ask(endpoint, text)]).toMatchObject([outcome, outcome]);
    const [miss, registration, hit] = endpoint.traffic;
    expect(miss).toMatch(/^(GET|POST) id: 200 PERSISTED_QUERY_NOT_FOUND$/);
    expect(registration).toMatch(/^(GET|POST) id text: 200$/);
    expect(hit).toMatch(/^(GET|POST) id: 200$/);
    expect(endpoint.traffic).toHaveLength(3);
  });

  test('mismatch: learns that the hash is not that of the text, which is not registered', async () => {
    const endpoint = watch(gateways.plain);
    const text = 'query Mismatch { project(id: "1") { name } }';
    const hash = sha256('another document');
    const outcome = { code: 'PERSISTED_QUERY_HASH_MISMATCH' };
    expect([await ask(endpoint, text, hash), await ask(endpoint, text, hash)]).toEqual([outcome, outcome]);
    const [miss = '', refusal = ''] = endpoint.traffic;
    expect(miss).toMatch(/^(GET|POST) id: 200 PERSISTED_QUERY_NOT_FOUND$/);
    expect(refusal).toMatch(/^(GET|POST) id text: 400 PERSISTED_QUERY_HASH_MISMATCH$/);
    expect(endpoint.traffic).toEqual([miss, refusal, miss, refusal]);
  });
}

function listedCells(listed: Connect): void {
  test('manifest id: asks by the ids of the manifest that its tools wrote', async () => {
    const traffic = await use(listed, gateways.listed);
    expect(traffic.map(carried)).toEqual(['id', 'id', 'id', 'id']);
  });

  test('mode `only`: asks by the ids of its manifest if nothing else is run', async () => {
    const traffic = await use(listed, gateways.only);
    expect(traffic.map(carried)).toEqual(['id', 'id', 'id', 'id']);
  });
}

/** The test of a client on a phone, which can keep no API key. */
function tokenCell(listed: Connect): void {
  test('tokens: asks by the ids of its manifest with the token of a user, if nothing else is run', async () => {
    const traffic = await use(listed, gateways.tenants);
    expect(traffic.map(carried)).toEqual(['id', 'id', 'id', 'id']);
  });
}

/** A gateway without the manifest of this release of the app. */
function unlistedCell(listed: Connect): void {
  test('miss: reports to its caller that the id is not known', async () => {
    const endpoint = watch(gateways.plain);
    await expect(listed(endpoint).overview('1')).rejects.toThrow('There is no document with the id');
    expect(endpoint.traffic).toEqual(['POST id: 404 PERSISTED_DOCUMENT_NOT_FOUND']);
  });
}

/** Goes through the screens of an app that was just started; answers what was sent. */
async function use(connect: Connect, gateway: RunningGateway): Promise<readonly string[]> {
  const endpoint = watch(gateway);
  const app = connect(endpoint);
  expect(await app.overview('1')).toEqual({ name: 'Booking website', timezone: 'Europe/Berlin' });
  expect(await app.twoPages('1')).toEqual([
    'Weekly growth',
    'Booking funnel',
    'Search quality',
    'Activation of new travellers',
  ]);
  described += 1;
  const description = `Description ${described}`;
  expect(await app.describe({ id: '1', projectId: '1', description })).toBe(description);
  return endpoint.traffic;
}

/** The part of a traffic line that says how the document was sent: `id` of `POST id: 200`. */
function carried(line: string): string {
  return line.replace(/^\w+ (.*): 200$/, '$1');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
