import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { type Arguments, askPage, at, idsOf, type Place, pageField, rowsOf, toPage } from '../support/connections.ts';
import { type TestGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { type IndexedArguments, relayPage } from '../support/relay.ts';
import { event, listedDashboard, listedProject } from '../support/rows.ts';

const dashboards: Place = { field: 'dashboards', under: 'project(id: 1)' };
const path = 'GET /api/projects/1/dashboards/';

/** Every choice of `first` or `last`, `after` and `before` over a list, with cursors up to one past its end. */
function everyCombination(length: number): IndexedArguments[] {
  const sizes = [...new Set([0, 1, 2, 3, length, length + 1])];
  const amounts = [...sizes.map((first) => ({ first })), ...sizes.map((last) => ({ last })), {}];
  const indexes = [undefined, ...Array.from({ length: length + 1 }, (_, index) => index)];
  return amounts.flatMap((amount) =>
    indexes.flatMap((after) =>
      indexes.map((before) => ({
        ...amount,
        ...(after !== undefined && { after }),
        ...(before !== undefined && { before }),
      })),
    ),
  );
}

/** `last` before a cursor past the end reads the rows just before that cursor, of which there may be none. */
function isDefined({ last, before = 0 }: IndexedArguments, length: number): boolean {
  return last === undefined || before <= length - 1;
}

function withCursors({ after, before, ...amount }: IndexedArguments, cursors: readonly string[]): Arguments {
  return {
    ...amount,
    ...(after !== undefined && { after: cursors[after] }),
    ...(before !== undefined && { before: cursors[before] }),
  };
}

/** A list of `length` dashboards behind a gateway, and the cursors of its rows and of one that is gone again. */
async function startList(gateway: TestGateway, rows: object[], length: number): Promise<readonly string[]> {
  const { cursors } = await askPage(gateway, dashboards, { first: 20 });
  rows.length = length;
  return cursors;
}

describe('first, last, after and before', () => {
  test.each([0, 1, 2, 5])('agree with the Relay algorithm on a list of %i rows', async (length) => {
    const rows = rowsOf(length + 1, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows) }, {}, { hold: 0 });
    const cursors = await startList(gateway, rows, length);
    const combinations = everyCombination(length).filter((args) => isDefined(args, length));
    for (const args of combinations) {
      upstream.reset();
      const page = await askPage(gateway, dashboards, withCursors(args, cursors));
      expect({ args, page }).toEqual({ args, page: relayPage(idsOf(rows), cursors, args) });
      // The last rows of so short a list cost one call, too.
      expect(upstream.requests).toHaveLength(1);
    }
    expect(gateway.reported).toEqual([]);
  });

  test('agree with it even if many of them are asked at once and share pages', async () => {
    const length = 9;
    const rows = rowsOf(length + 1, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows) }, {}, { hold: 0 });
    const cursors = await startList(gateway, rows, length);
    // The last rows behind a cursor are looked for in a page of their own.
    const sharing = ({ last, after, before }: IndexedArguments): boolean =>
      last === undefined || before !== undefined || after === undefined;
    const combinations = everyCombination(length).filter((args) => isDefined(args, length) && sharing(args));
    for (let start = 0; start < combinations.length; start += 20) {
      upstream.reset();
      const asked = combinations.slice(start, start + 20);
      const fields = asked.map((args, index) => pageField(dashboards, withCursors(args, cursors), `p${index}`));
      const answer = await gateway.ask(`{ project(id: 1) { ${fields.join('\n')} } }`);
      expect(answer.errors).toBeUndefined();
      for (const [index, args] of asked.entries()) {
        const page = toPage(at(answer.data, 'project', `p${index}`));
        expect({ args, page }).toEqual({ args, page: relayPage(idsOf(rows), cursors, args) });
      }
      expect(upstream.requests).toHaveLength(1);
    }
  });

  test('find the true tail of a list that is longer than one page', async () => {
    const rows = rowsOf(23, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows) }, { maxPageSize: 5 }, { hold: 0 });
    const first = await askPage(gateway, dashboards, { first: 5 });
    upstream.reset();
    const tail = await askPage(gateway, dashboards, { last: 3 });
    expect(tail).toMatchObject({ rows: ['21', '22', '23'], hasNextPage: false, hasPreviousPage: true, totalCount: 23 });
    expect(upstream.requests).toEqual([`${path}?limit=5`, `${path}?limit=3&offset=20`]);
    const behind = await askPage(gateway, dashboards, { last: 4, after: first.cursors[2] });
    expect(behind.rows).toEqual(['20', '21', '22', '23']);
  });

  test('given as null are as if left out', async () => {
    const rows = rowsOf(60, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows) }, {}, { hold: 0 });
    const nothing = { first: null, last: null, after: null, before: null };
    expect((await askPage(gateway, dashboards, nothing)).rows).toEqual(idsOf(rows.slice(0, 50)));
    expect((await askPage(gateway, dashboards, { ...nothing, first: 2 })).rows).toEqual(['1', '2']);
    expect((await askPage(gateway, dashboards, { ...nothing, last: 2 })).rows).toEqual(['59', '60']);
    expect(upstream.requests).toEqual([`${path}?limit=50`, `${path}?limit=2`, `${path}?limit=100`]);
  });

  test('default to 50, or to the page maximum if that is less', async () => {
    const { upstream, gateway } = await startBoth(
      { 'GET /api/projects/': listOf(rowsOf(60, listedProject)) },
      { maxPageSize: 20 },
    );
    expect((await askPage(gateway, { field: 'projects' })).rows).toHaveLength(20);
    expect(upstream.requests).toEqual(['GET /api/projects/?limit=20']);
  });
});

describe('arguments that no page can have', () => {
  const connections: readonly [Place['field'], string | undefined][] = [
    ['projects', undefined],
    ['dashboards', 'project(id: 1)'],
    ['plugins', 'organization(id: "@current")'],
    ['events', 'project(id: 1)'],
  ];
  const refused: readonly [Arguments, string][] = [
    [{ first: -1 }, 'Expected `first` to be from 0 to 100, but got -1.'],
    [{ first: 101 }, 'Expected `first` to be from 0 to 100, but got 101.'],
    [{ first: 2_147_483_647 }, 'Expected `first` to be from 0 to 100, but got 2147483647.'],
    [{ last: -1 }, 'Expected `last` to be from 0 to 100, but got -1.'],
    [{ last: 101 }, 'Expected `last` to be from 0 to 100, but got 101.'],
    [{ first: 1, last: 1 }, 'Expected either `first` or `last`, but got both.'],
    [{ first: 0, last: 0 }, 'Expected either `first` or `last`, but got both.'],
    [{ first: -1, last: 1 }, 'Expected either `first` or `last`, but got both.'],
    [{ after: '' }, 'Expected `after` to be a cursor of this list with these filters, but got "".'],
    [{ before: 'x' }, 'Expected `before` to be a cursor of this list with these filters, but got "x".'],
  ];

  test.each(connections)('are refused by %s before any call', async (field, under) => {
    const { upstream, gateway } = await startBoth({});
    const possible = refused.filter(([args]) => field !== 'events' || !('last' in args || 'before' in args));
    for (const [args, message] of possible) {
      const text = pageField({ field }, args);
      const answer = await gateway.ask(under === undefined ? `{ ${text} }` : `{ ${under} { ${text} } }`);
      expect(answer.errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(JSON.stringify(answer.data)).toContain(`"${field}":null`);
    }
    expect(possible.length).toBeGreaterThan(3);
    expect(upstream.requests).toEqual([]);
  });

  test('are refused even if only the count is asked for', async () => {
    const { upstream, gateway } = await startBoth({});
    for (const [args] of refused) {
      const list = pageField({ field: 'projects' }, args).replace(/\{.*/s, '{ totalCount }');
      expect((await gateway.ask(`{ ${list} }`)).errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('include a `first` beyond the maximum of rows and CSV of events', async () => {
    const { upstream, gateway } = await startBoth(
      { 'GET /api/projects/1/events/': { next: null, results: [event(1)] } },
      { maxPageSize: 10 },
    );
    for (const field of ['eventsCsv(first: 11) { csv }', 'eventRows(select: ["event"], first: -1) { rows }']) {
      const { errors } = await gateway.ask(`{ project(id: 1) { ${field} } }`);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('include numbers that are no GraphQL Int', async () => {
    const { upstream, gateway } = await startBoth({});
    for (const first of ['2147483648', '1.5', '"1"', 'true', '[1, 2]']) {
      const { errors } = await gateway.ask(`{ projects(first: ${first}) { nodes { id } } }`);
      expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    }
    expect(upstream.requests).toEqual([]);
  });
});
