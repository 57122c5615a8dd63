import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { askThrice } from '../support/repeat.ts';
import { type JsonObject, notFound } from '../support/replies.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { answeredBy, fieldNames, isEnum, type Mapped, sentBy, turns, unknownEnumValues, valueOf } from './columns.ts';
import { columnsOf, fieldNameOf, leafFieldsOf, objectFieldsOf } from './document.ts';
import { answerOf, type Noun, nouns } from './nouns.ts';

describe.each(nouns)('$type', (noun) => {
  const { type, list, detail, path } = noun;
  const listRequest = `GET ${path}?limit=100`;

  test('has a field for every column of the OpenAPI document, and a column for every field', () => {
    const beside = type === 'User' ? [] : ['id', 'upstreamId'];
    const fields = [...leafFieldsOf(type).keys()].filter((name) => !beside.includes(name));
    expect(fields.toSorted()).toEqual(detail.map(({ field }) => field).toSorted());
    const objects = columnsOf(type).filter(({ isObject }) => isObject);
    expect(objectFieldsOf(type)).toEqual(objects.map(({ name }) => fieldNameOf(name)));
  });

  test('tells the values of every two columns apart', () => {
    const seen = detail.map((mapped) => JSON.stringify(turns.map((turn) => valueOf(mapped, turn))));
    expect(new Set(seen).size).toBe(detail.length);
  });

  test.each(['nodes', 'edges { node'])('answers every column of a list from its rows alone, by %s', async (rows) => {
    const sent = turns.map((turn) => noun.rowOf(`${turn + 1}`, sentBy(list, turn)));
    const close = rows.startsWith('edges') ? ' }' : '';
    const query = noun.listQuery(noun.selectionOf(fieldNames(list)) + close, rows);
    const { data, requests } = await listAnswer(noun, sent, query);
    const nodes = rows === 'nodes' ? at(data, ...noun.nodes) : nodesOf(at(data, ...noun.nodes.slice(0, -1), 'edges'));
    expect(nodes).toStrictEqual(turns.map((turn) => answerOf(noun, `${turn + 1}`, answeredBy(list, turn))));
    expect(requests).toEqual([listRequest]);
  });

  test('answers every column of a row from one call', async () => {
    const sent = turns.map((turn) => noun.rowOf(`${turn + 1}`, sentBy(detail, turn)));
    expect(await objectsOf(noun, sent)).toStrictEqual(
      turns.map((turn) => answerOf(noun, `${turn + 1}`, answeredBy(detail, turn))),
    );
  });

  test.each([
    ['missing', undefined],
    ['null', null],
  ])('a column that is %s in a list leaves the others, costs no call and is no error', async (_what, value) => {
    // Row i lacks column i; the last one lacks all.
    const gaps = [...list.map((mapped) => [mapped]), list];
    const sent = gaps.map((gap, index) => noun.rowOf(`${index + 1}`, withGap(list, gap, value)));
    const { data, requests } = await listAnswer(noun, sent, noun.listQuery(noun.selectionOf(fieldNames(list))));
    expect(at(data, ...noun.nodes)).toStrictEqual(
      gaps.map((gap, index) => answerOf(noun, `${index + 1}`, { ...answeredBy(list, 0), ...nulls(gap) })),
    );
    expect(requests).toEqual([listRequest]);
  });

  test.each([
    ['missing', undefined],
    ['null', null],
  ])('a column that is %s in a row leaves the others, costs no further call and is no error', async (_what, value) => {
    const gaps = [...detail.map((mapped) => [mapped]), detail];
    const sent = gaps.map((gap, index) => noun.rowOf(`${index + 1}`, withGap(detail, gap, value)));
    expect(await objectsOf(noun, sent)).toStrictEqual(
      gaps.map((gap, index) => answerOf(noun, `${index + 1}`, { ...answeredBy(detail, 0), ...nulls(gap) })),
    );
  });
});

describe('columns that lists lack', () => {
  const lacking = nouns
    .map((noun) => ({ noun, columns: detailOnlyOf(noun) }))
    .filter(({ columns }) => columns.length > 0);

  test('are those of the contract', () => {
    expect(lacking.map(({ noun, columns }) => [noun.type, columns.length])).toEqual([
      ['Project', 33],
      ['Dashboard', 5],
    ]);
  });

  test.each([
    ...lacking.flatMap(({ noun, columns }) =>
      columns.map((mapped) => ({ noun, columns: [mapped], what: mapped.field })),
    ),
    ...lacking.map((one) => ({ ...one, what: 'all of them together' })),
  ])('cost one call for each $noun.type of a list, all at once: $what', async ({ noun, columns }) => {
    const ids = [1, 2, 3];
    const rows = ids.map((id): [string, JsonObject] => [
      `GET ${noun.path}${id}/`,
      noun.rowOf(`${id}`, sentBy(noun.detail, id)),
    ]);
    const { upstream, gateway } = await startBoth({
      [`GET ${noun.path}`]: listOf(ids.map((id) => noun.rowOf(`${id}`, sentBy(noun.list, 0)))),
      ...Object.fromEntries(rows),
    });
    const answer = await askThrice(gateway, upstream, noun.listQuery(noun.selectionOf(fieldNames(columns))));
    expect(answer.errors).toBeUndefined();
    expect(at(answer.data, ...noun.nodes)).toStrictEqual(
      ids.map((id) => answerOf(noun, `${id}`, answeredBy(columns, id))),
    );
    const requests = [`GET ${noun.path}?limit=100`, ...rows.map(([request]) => request)];
    expect(upstream.requests.toSorted()).toEqual(requests.toSorted());
    expect(upstream.waves()).toBe(2);
  });
});

test.each(nouns.flatMap((noun) => noun.detail.filter(isEnum).map((mapped) => ({ noun, mapped }))))(
  'an unknown value of $mapped.field of a $noun.type is UNKNOWN, and no error',
  async ({ noun, mapped }) => {
    const sent = unknownEnumValues.map((value, index) =>
      noun.rowOf(`${index + 1}`, { ...sentBy(noun.detail, 0), [mapped.column]: value }),
    );
    const expected = { ...answeredBy(noun.detail, 0), [mapped.field]: 'UNKNOWN' };
    expect(await objectsOf(noun, sent)).toStrictEqual(
      unknownEnumValues.map((_value, index) => answerOf(noun, `${index + 1}`, expected)),
    );
    const listed = noun.list.filter(({ column }) => column === mapped.column);
    const { data } = await listAnswer(noun, sent, noun.listQuery(noun.selectionOf(`upstreamId ${fieldNames(listed)}`)));
    expect(at(data, ...noun.nodes)).toStrictEqual(
      sent.map((_row, index) =>
        answerOf(noun, `${index + 1}`, Object.fromEntries(listed.map(({ field }) => [field, 'UNKNOWN']))),
      ),
    );
  },
);

function detailOnlyOf({ list, detail }: Noun): Mapped[] {
  return detail.filter(({ column }) => !list.some((one) => one.column === column));
}

/** The data of a list whose answer must not have an error, and its requests. */
async function listAnswer(
  noun: Noun,
  rows: readonly JsonObject[],
  query: string,
): Promise<{ data: unknown; requests: Upstream['requests'] }> {
  await using upstream = await startUpstream({ [`GET ${noun.path}`]: listOf(rows) });
  await using gateway = await startGateway(upstream);
  const answer = await askThrice(gateway, upstream, query);
  expect(answer.errors).toBeUndefined();
  return { data: answer.data, requests: [...upstream.requests] };
}

/** All columns of objects whose ids count from 1, read one by one in one call each, without an error. */
async function objectsOf(noun: Noun, rows: readonly JsonObject[]): Promise<unknown[]> {
  await using upstream = await startUpstream({
    [`GET ${noun.path}:id/`]: ({ params }) => rows[Number(params['id']) - 1] ?? notFound,
  });
  upstream.release();
  await using gateway = await startGateway(upstream);
  const query = noun.detailQuery(noun.selectionOf(fieldNames(noun.detail)));
  const objects: unknown[] = [];
  for (let id = 1; id <= rows.length; id += 1) {
    upstream.reset();
    const answer = await askThrice(gateway, upstream, query, { variables: { id: `${id}` } });
    expect(answer.errors).toBeUndefined();
    expect(upstream.requests).toEqual([`GET ${noun.path}${id}/`]);
    objects.push(at(answer.data, ...noun.object));
  }
  return objects;
}

function withGap(columns: readonly Mapped[], gap: readonly Mapped[], value: null | undefined): JsonObject {
  const kept = columns.filter((mapped) => !gap.includes(mapped));
  return value === undefined ? sentBy(kept, 0) : { ...sentBy(kept, 0), ...nullColumns(gap) };
}

function nullColumns(columns: readonly Mapped[]): Record<string, null> {
  return Object.fromEntries(columns.map(({ column }) => [column, null]));
}

function nulls(columns: readonly Mapped[]): Record<string, null> {
  return Object.fromEntries(columns.map(({ field }) => [field, null]));
}

function nodesOf(edges: unknown): unknown {
  return Array.isArray(edges) ? edges.map((edge) => at(edge, 'node')) : edges;
}
