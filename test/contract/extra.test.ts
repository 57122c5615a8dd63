import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { reply } from '../support/replies.ts';
import { startUpstream } from '../support/upstream.ts';
import { askThriceExactly } from './thrice.ts';

const line = 'PATCH /api/projects/1/dashboards/5/';
/** Beyond 2^53, and beyond what any number of JavaScript holds. */
const long = '9007199254740993';
const longer = '-123456789012345678901234567890';

/** Each member that goes wrong in some implementation, as JSON text. */
const members = [
  ['__proto__', `{"__proto__":{"polluted":true},"a":1}`],
  ['__proto__ inside', `{"a":{"__proto__":{"polluted":true}},"b":[{"__proto__":null}]}`],
  ['constructor and toJSON', `{"constructor":{"prototype":{"polluted":true}},"toJSON":"text","hasOwnProperty":1}`],
  ['integers beyond 2^53', `{"a":${long},"b":[${longer},{"c":${long}}],"d":9007199254740991}`],
  ['a member called rawJSON', `{"rawJSON":"9007199254740993","a":{"rawJSON":1}}`],
  ['plain values', `{"a":null,"b":true,"c":-0.5,"d":"","e":[],"f":{},"g":"\\n\\"☃"}`],
] as const;

describe.each(['extra', 'filters'])('what `%s` holds goes upstream byte for byte', (field) => {
  /** `extra` is merged into the body, `filters` is one member of it. */
  const bodyOf = (json: string): string => (field === 'extra' ? json : `{"filters":${json}}`);

  test.each(members)('%s, the whole input a variable', async (_name, json) => {
    const query = `mutation Update($input: UpdateDashboardInput!)
      { updateDashboard(input: $input) { dashboard { name } } }`;
    expect(await bodyAfter(query, `{"input":{"id":"5","projectId":"1","${field}":${json}}}`)).toBe(bodyOf(json));
  });

  test.each(members)('%s, the field a variable', async (_name, json) => {
    const query = `mutation Update($json: JSON)
      { updateDashboard(input: { id: 5, projectId: 1, ${field}: $json }) { dashboard { name } } }`;
    expect(await bodyAfter(query, `{"json":${json}}`)).toBe(bodyOf(json));
  });

  test.each(members)('%s, in the text of the operation', async (_name, json) => {
    const query = `mutation { updateDashboard(input: { id: 5, projectId: 1, ${field}: ${literalOf(json)} })
      { dashboard { name } } }`;
    expect(await bodyAfter(query, '{}')).toBe(bodyOf(json));
  });

  test.each(members)('%s, as the default of a variable', async (_name, json) => {
    const query = `mutation Update($json: JSON = ${literalOf(json)})
      { updateDashboard(input: { id: 5, projectId: 1, ${field}: $json }) { dashboard { name } } }`;
    expect(await bodyAfter(query, '{}')).toBe(bodyOf(json));
  });

  test.each(members)('%s, a variable within a literal', async (_name, json) => {
    const query = `mutation Update($json: JSON)
      { updateDashboard(input: { id: 5, projectId: 1, ${field}: { outer: [$json] } }) { dashboard { name } } }`;
    expect(await bodyAfter(query, `{"json":${json}}`)).toBe(bodyOf(`{"outer":[${json}]}`));
  });
});

test('members of `extra` come after the fields of the input, in their own order', async () => {
  const query = `mutation { updateDashboard(input: { id: 5, projectId: 1, extra: { z: 1, a: 2 }, pinned: true, name: "x" })
    { dashboard { name } } }`;
  expect(JSON.parse(await bodyAfter(query, '{}'))).toStrictEqual({ name: 'x', pinned: true, z: 1, a: 2 });
  expect(await bodyAfter(query, '{}')).toMatch(/"z":1,"a":2\}$/);
});

test('integers beyond 2^53 in an answer come back digit for digit', async () => {
  const row = `{"id":5,"name":"x","filters":{"a":${long},"b":[${longer}]},"tiles":[{"id":${long}}],"use_dashboard":${long}}`;
  const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/dashboards/5/': reply({ body: row }) });
  const { body } = await askThriceExactly(
    gateway,
    upstream,
    '{ project(id: 1) { dashboard(id: 5) { filters tiles useDashboardId } } }',
  );
  expect(body).toBe(
    `{"data":{"project":{"dashboard":{"filters":{"a":${long},"b":[${longer}]},"tiles":[{"id":${long}}],"useDashboardId":"${long}"}}}}`,
  );
});

async function bodyAfter(query: string, variables: string): Promise<string> {
  await using upstream = await startUpstream({ [line]: { id: 5, name: 'x' } });
  upstream.release();
  await using gateway = await startGateway(upstream);
  const { body } = await askThriceExactly(gateway, upstream, query, variables);
  expect(body).toBe('{"data":{"updateDashboard":{"dashboard":{"name":"x"}}}}');
  expect(upstream.requests).toEqual([line]);
  expect({}).not.toHaveProperty('polluted');
  return upstream.records[0]?.body ?? '';
}

/** JSON text as a GraphQL literal: names without quotes. None of the members has a colon in a string. */
function literalOf(json: string): string {
  return json.replaceAll(/"(\w+)":/g, '$1:');
}
