import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { type GraphQLFailure } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { codesOf, expectNothingLeaks } from '../support/outcomes.ts';
import { askThrice } from '../support/repeat.ts';
import { type Json, type JsonObject, notFound } from '../support/replies.ts';
import { answeredBy, fieldNames, type Mapped, secret, sentBy, wrongValuesOf } from './columns.ts';
import { answerOf, type Noun, nouns } from './nouns.ts';

/** A column with a value that its type cannot hold. */
interface Wrong {
  readonly mapped: Mapped;
  readonly value: Json;
}

const invalid = 'UPSTREAM_INVALID_RESPONSE';

/** The one message for all of them: it says nothing of the value. */
const message = 'The upstream sent an answer that does not fit its contract.';

function wrongIn(columns: readonly Mapped[]): Wrong[] {
  return columns.flatMap((mapped) => wrongValuesOf(mapped).map((value) => ({ mapped, value })));
}

function rowWith(noun: Noun, id: number, columns: readonly Mapped[], { mapped, value }: Wrong): JsonObject {
  return noun.rowOf(`${id}`, { ...sentBy(columns, 0), [mapped.column]: value });
}

describe.each(nouns)('a wrong value in a $type', (noun) => {
  test('of a list fails that one field of that one row, in words that say nothing of it', async () => {
    const wrong = wrongIn(noun.list);
    const rows = wrong.map((one, index) => rowWith(noun, index + 1, noun.list, one));
    const { upstream, gateway } = await startBoth({ [`GET ${noun.path}`]: listOf(rows) });
    const answer = await askThrice(gateway, upstream, noun.listQuery(noun.selectionOf(fieldNames(noun.list))));
    expect(at(answer.data, ...noun.nodes)).toStrictEqual(
      wrong.map(({ mapped }, index) =>
        answerOf(noun, `${index + 1}`, { ...answeredBy(noun.list, 0), [mapped.field]: null }),
      ),
    );
    const places = wrong.map(({ mapped }, index) => [...noun.nodes, index, ...noun.within, mapped.field]);
    expect(codesOf(answer)).toEqual(places.map((place) => `${place.join('.')} ${invalid}`).toSorted());
    expectSilence(answer.errors);
    expectNothingLeaks(answer, secret, '1234567', '2147483648');
  });

  test('that was read alone fails that one field, in words that say nothing of it', async () => {
    const wrong = wrongIn(noun.detail);
    const rows = wrong.map((one, index) => rowWith(noun, index + 1, noun.detail, one));
    const { upstream, gateway } = await startBoth({
      [`GET ${noun.path}:id/`]: ({ params }) => rows[Number(params['id']) - 1] ?? notFound,
    });
    upstream.release();
    const query = noun.detailQuery(noun.selectionOf(fieldNames(noun.detail)));
    for (const [index, { mapped }] of wrong.entries()) {
      upstream.reset();
      const answer = await askThrice(gateway, upstream, query, { variables: { id: `${index + 1}` } });
      const fields = { ...answeredBy(noun.detail, 0), [mapped.field]: null };
      expect(at(answer.data, ...noun.object)).toStrictEqual(answerOf(noun, `${index + 1}`, fields));
      expect(codesOf(answer)).toEqual([`${[...noun.object, ...noun.within, mapped.field].join('.')} ${invalid}`]);
      expectSilence(answer.errors);
      expectNothingLeaks(answer, secret, '1234567', '2147483648');
    }
    expect(wrong.length).toBeGreaterThan(noun.detail.length / 2);
  });
});

test('a wrong item of a list of texts fails alone', async () => {
  const { upstream, gateway } = await startBoth({
    'GET /api/projects/1/': {
      id: 1,
      app_urls: ['a', { [secret]: 1 }, null, 'b'],
      live_events_columns: [[secret], 'c'],
    },
  });
  const answer = await askThrice(gateway, upstream, '{ project(id: 1) { name appUrls liveEventsColumns } }');
  expect(answer.data).toEqual({
    project: { name: null, appUrls: ['a', null, null, 'b'], liveEventsColumns: [null, 'c'] },
  });
  expect(codesOf(answer)).toEqual([`project.appUrls.1 ${invalid}`, `project.liveEventsColumns.0 ${invalid}`]);
  expectNothingLeaks(answer, secret);
});

test.each([secret, [secret], 1234567, true])('a creator that is %j fails alone', async (creator) => {
  const { upstream, gateway } = await startBoth({
    'GET /api/projects/1/dashboards/': listOf([
      { id: 1, name: 'a', created_by: creator },
      { id: 2, created_by: null },
    ]),
  });
  const query = '{ project(id: 1) { dashboards { nodes { name createdBy { email } } } } }';
  const answer = await askThrice(gateway, upstream, query);
  const nodes = [
    { name: 'a', createdBy: null },
    { name: null, createdBy: null },
  ];
  expect(answer.data).toEqual({ project: { dashboards: { nodes } } });
  expect(codesOf(answer)).toEqual([`project.dashboards.nodes.0.createdBy ${invalid}`]);
  expectNothingLeaks(answer, secret, '1234567');
});

function expectSilence(errors: readonly GraphQLFailure[] = []): void {
  expect(new Set(errors.map((error) => error.message))).toEqual(new Set([message]));
}
