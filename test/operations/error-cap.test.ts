import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { codesOf } from '../support/load.ts';
import { sendRaw } from '../support/raw-http.ts';
import { listedProject } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** Sixty rows of which four fields each cannot be answered. */
const broken = Array.from({ length: 60 }, (_, index) => listedProject(index + 1, { name: { no: 'text' } }));
const routes = { 'GET /api/projects/': { count: 60, next: null, results: broken } };
const query = '{ projects(first: 60) { nodes { upstreamId a: name b: name c: name d: name } } }';

const left = 'The answer has 240 errors, but at most 100 are told: 140 are left out.';
const json = ['content-type', 'application/json', 'authorization', 'Bearer phx_test'];

test('an answer lists a hundred errors at most, and says how many there are; its data is complete', async () => {
  const { gateway } = await startBoth(routes);
  // Executed by other code from the second time on.
  for (let times = 0; times < 3; times += 1) {
    const answer = await gateway.ask(query);
    expect(codesOf(answer)).toEqual([...Array<string>(100).fill('UPSTREAM_INVALID_RESPONSE'), 'LIMIT_EXCEEDED']);
    expect(answer.errors?.at(-1)?.message).toBe(left);
    const nodes = broken.map((_, index) => ({ upstreamId: `${index + 1}`, a: null, b: null, c: null, d: null }));
    expect(answer.data).toEqual({ projects: { nodes } });
  }
});

test('an alias nearly as long as a document does not come back with each of a hundred errors', async () => {
  const { upstream, gateway } = await startBoth(routes);
  const ids = Array.from({ length: 100 }, (_, index) => `no id ${index}`);
  const alias = 'a'.repeat(100_000);
  const answer = await gateway.ask(`query($ids: [ID!]!) { ${alias}: nodes(ids: $ids) { id } }`, { variables: { ids } });
  expect(codesOf(answer)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT', 'LIMIT_EXCEEDED']);
  expect(answer.body.length).toBeLessThan(400_000);
  expect(upstream.requests).toEqual([]);
});

test('every transport has the same cap', async () => {
  const { gateway } = await startBoth(routes);
  const path = `/graphql?query=${encodeURIComponent(query)}`;
  const body = JSON.stringify({ query });
  for (const accept of [
    'application/json',
    'application/graphql-response+json',
    'text/event-stream',
    'multipart/mixed',
  ]) {
    for (const request of [{ body }, { method: 'GET', path }]) {
      const answer = await sendRaw(gateway.url, { ...request, headers: [...json, 'accept', accept] });
      expect([accept, answer.body.match(/UPSTREAM_INVALID_RESPONSE/g)?.length]).toEqual([accept, 100]);
      expect(answer.body).toContain(left);
    }
  }
});

test('fewer errors are all listed, and the cap is a setting', async () => {
  await using upstream = await startUpstream(routes);
  await using all = await startGateway(upstream, { maxErrors: 240 });
  expect(codesOf(await all.ask(query))).toEqual(Array(240).fill('UPSTREAM_INVALID_RESPONSE'));
  await using one = await startGateway(upstream, { maxErrors: 1 });
  expect(codesOf(await one.ask(query))).toEqual(['UPSTREAM_INVALID_RESPONSE', 'LIMIT_EXCEEDED']);
});

test('a list of a hundred thousand wrong values is answered in a few kilobytes', async () => {
  const { upstream, gateway } = await startBoth(routes);
  // The arguments of queries are refused before their values are looked at.
  const change =
    'mutation M($urls: [String!]) { createProject(input: { name: "a", appUrls: $urls }) { project { id } } }';
  const variables = { urls: Array.from({ length: 100_000 }, () => ({})) };
  for (let times = 0; times < 3; times += 1) {
    const answer = await gateway.ask(change, { variables });
    expect(new Set(codesOf(answer))).toEqual(new Set(['BAD_USER_INPUT']));
    expect(answer.body.length).toBeLessThan(100_000);
  }
  expect(upstream.requests).toEqual([]);
});

test('an object with thousands of unknown members, which each of its errors quotes whole, has five errors listed, and one that says so', async () => {
  const { upstream, gateway } = await startBoth(routes);
  const createProject = 'mutation M($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }';
  for (const members of [60_000, 10]) {
    const unknown = Array.from({ length: members }, (_, index): [string, number] => [`k${index}`, 1]);
    const variables = { input: Object.fromEntries(unknown) };
    for (let times = 0; times < 3; times += 1) {
      const answer = await gateway.ask(createProject, { variables });
      expect([members, codesOf(answer)]).toEqual([members, Array(6).fill('BAD_USER_INPUT')]);
    }
  }
  expect(upstream.requests).toEqual([]);
});

test('misspelt names in variables get no suggestions if the schema cannot be read', async () => {
  await using upstream = await startUpstream(routes);
  const misspelt = 'mutation M($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }';
  const variables = { input: { name: 'a', timezon: 'UTC' } };
  for (const introspection of [true, false]) {
    await using gateway = await startGateway(upstream, { introspection });
    for (let times = 0; times < 3; times += 1) {
      const answer = await gateway.ask(misspelt, { variables });
      expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
      expect(answer.body.includes('Did you mean')).toBe(introspection);
    }
  }
});
