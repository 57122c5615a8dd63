import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';
import { bodyFieldsOf, literalQuery, samplesOf, variableQuery, type Write, writes } from './inputs.ts';
import { askThriceExactly } from './thrice.ts';

describe.each(writes)('$mutation', (write) => {
  test('has an input field for every request column of the OpenAPI document that means something to it, and no other', () => {
    const fields = samplesOf(write)[0]?.map(({ field }) => field) ?? [];
    expect(bodyFieldsOf(write).toSorted()).toEqual(fields.toSorted());
    expect(fields.length).toBeGreaterThan(7);
  });

  test.each(samplesOf(write).map((samples, turn) => ({ samples, turn })))(
    'sends every field under its REST name and as its REST value, take $turn',
    async ({ samples }) => {
      const given = Object.fromEntries(samples.map(({ field, given: value }) => [field, value]));
      const expected = Object.fromEntries(samples.map(({ column, sent }) => [column, sent]));
      const [asVariable, asLiteral] = await bodiesOf(write, given);
      expect(JSON.parse(asVariable)).toStrictEqual(expected);
      expect(JSON.parse(asLiteral)).toStrictEqual(expected);
    },
  );

  test('sends null for a field that is null', async () => {
    const given = Object.fromEntries(bodyFieldsOf(write).map((field) => [field, null]));
    const expected = Object.fromEntries((samplesOf(write)[0] ?? []).map(({ column }) => [column, null]));
    for (const body of await bodiesOf(write, given)) expect(JSON.parse(body)).toStrictEqual(expected);
  });

  test('sends nothing for a field that is left out', async () => {
    expect(await bodiesOf(write, {})).toEqual(['{}', '{}']);
    expect(await bodiesOf(write, { extra: null })).toEqual(['{}', '{}']);
    expect(await bodiesOf(write, { name: 'x' })).toEqual(['{"name":"x"}', '{"name":"x"}']);
  });

  test('sends nothing for a field whose variable is left out, and its default for one that has one', async () => {
    const { upstream, gateway } = await startBoth({ [write.line]: { id: 5 } });
    const address = Object.entries(write.address).map(([name, value]) => `${name}: "${value}", `);
    const query = `mutation Write($name: String, $extra: JSON, $text: JSON = "default") {
      ${write.mutation}(input: { ${address.join('')} name: $name, extra: { left: $extra, set: $text } }) { __typename }
    }`;
    expect((await askThriceExactly(gateway, upstream, query)).errors).toBeUndefined();
    expect(upstream.records.map(({ body }) => body)).toEqual(['{"set":"default"}']);
  });

  test('refuses an `extra` that is no object', async () => {
    const message = 'Expected `extra` to be a JSON object';
    const refusals = [[], [{ a: 1 }], 'text', 7, true].map((extra) => ({ given: { extra }, message }));
    expect(await requestsOfRefused(write, refusals)).toEqual([]);
  });

  test('refuses UNKNOWN for an enum', async () => {
    const first = samplesOf(write)[0] ?? [];
    const enums = first.filter(({ given }) => typeof given === 'string' && /^[A-Z_]+$/.test(given));
    expect(enums.map(({ field }) => field)).toEqual(
      { ProjectRequest: ['weekStartDay'], DashboardRequest: ['restrictionLevel'], PluginRequest: ['pluginType'] }[
        write.request
      ],
    );
    const refusals = enums.map(({ field }) => ({ given: { [field]: 'UNKNOWN' }, message: `Expected \`${field}\`` }));
    expect(await requestsOfRefused(write, refusals)).toEqual([]);
  });
});

/** The bodies that go upstream for an input: given as a variable, and in the text of the operation. */
async function bodiesOf(write: Write, given: object): Promise<[asVariable: string, asLiteral: string]> {
  await using upstream = await startUpstream({ [write.line]: { id: 5 } });
  upstream.release();
  await using gateway = await startGateway(upstream);
  const bodyAfter = async (query: string, variables?: object): Promise<string> => {
    upstream.reset();
    const { errors } = await askThriceExactly(gateway, upstream, query, JSON.stringify(variables));
    expect(errors).toBeUndefined();
    expect(upstream.requests).toEqual([write.line]);
    return upstream.records[0]?.body ?? '';
  };
  return [
    await bodyAfter(variableQuery(write), { input: { ...write.address, ...given } }),
    await bodyAfter(literalQuery(write, given)),
  ];
}

interface Refusal {
  readonly given: object;
  readonly message: string;
}

test('a variable that has a default and is null is refused if its place may not be null, whichever field it is', async () => {
  const { upstream, gateway } = await startBoth({ 'PATCH /api/projects/1/': { id: 1 } });
  const query = `mutation ($input: DeleteProjectInput = { id: 1 }) {
    first: updateProject(input: { id: 1, name: "a" }) { project { upstreamId } }
    second: deleteProject(input: $input) { deletedId }
  }`;
  const { data, errors } = await askThriceExactly(gateway, upstream, query, '{"input":null}');
  expect(data).toEqual({ first: { project: { upstreamId: '1' } }, second: null });
  expect(errors).toMatchObject([{ path: ['second'], extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(upstream.requests).toEqual(['PATCH /api/projects/1/']);
});

/** Checks that each is refused, and answers the requests that were made for them. */
async function requestsOfRefused(write: Write, refusals: readonly Refusal[]): Promise<readonly string[]> {
  await using upstream = await startUpstream({ [write.line]: { id: 5 } });
  await using gateway = await startGateway(upstream);
  for (const { given, message } of refusals) {
    const variables = JSON.stringify({ input: { ...write.address, ...given } });
    const asVariable = await askThriceExactly(gateway, upstream, variableQuery(write), variables);
    const asLiteral = await askThriceExactly(gateway, upstream, literalQuery(write, given));
    for (const { errors = [], data } of [asVariable, asLiteral]) {
      expect({ given, data }).toEqual({ given, data: { [write.mutation]: null } });
      expect(errors.map(({ path, extensions }) => ({ path, extensions }))).toEqual([
        { path: [write.mutation], extensions: { code: 'BAD_USER_INPUT' } },
      ]);
      expect(errors[0]?.message).toContain(message);
    }
  }
  return upstream.requests;
}
