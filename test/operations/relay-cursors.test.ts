import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, type Place, pageField, rowsOf } from '../support/connections.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventsOf, listOf } from '../support/lists.ts';
import { event, listedDashboard, listedProject, plugin } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const projects: Place = { field: 'projects' };
const dashboards: Place = { field: 'dashboards', under: 'project(id: 1)' };
const events: Place = { field: 'events', under: 'project(id: 1)' };
const plugins: Place = { field: 'plugins', under: 'organization(id: "@current")' };

const routes = {
  'GET /api/projects/': listOf(rowsOf(9, listedProject)),
  'GET /api/projects/@current/': listedProject(1),
  'GET /api/projects/:id/dashboards/': listOf(rowsOf(9, listedDashboard)),
  'GET /api/projects/:id/events/': eventsOf(rowsOf(9, event)),
  'GET /api/organizations/:id/plugins/': listOf(rowsOf(9, plugin)),
};

/** Every text that differs from a cursor in one character, by another letter of its alphabet or by another character. */
function changed(cursor: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const at = (index: number, letter: string): string => cursor.slice(0, index) + letter + cursor.slice(index + 1);
  const replaced = cursor.split('').flatMap((letter, index) => {
    const next = alphabet[(alphabet.indexOf(letter) + 1) % alphabet.length] ?? '';
    return [at(index, next), at(index, ''), at(index, '='), at(index, letter + letter)];
  });
  // The last character may hold bits that no byte needs: all of its values.
  const lasts = alphabet.split('').map((letter) => at(cursor.length - 1, letter));
  const around = [`${cursor}A`, `${cursor}=`, `${cursor}\n`, ` ${cursor}`, `A${cursor}`, cursor + cursor, '🙂', 'null'];
  const others = [...replaced, ...lasts, ...around, 'MA', '0', 'eyJvZmZzZXQiOjF9', 'x'.repeat(5000)];
  return [...new Set(others)].filter((text) => text !== cursor);
}

/** Asks for a page with each cursor, twenty in one operation, whose text is the same each time. */
async function refusalsOf(gateway: TestGateway, { field, under }: Place, argument: string, cursors: readonly string[]) {
  const codes: unknown[] = [];
  for (let start = 0; start < cursors.length; start += 20) {
    const some = cursors.slice(start, start + 20);
    const declared = some.map((_cursor, index) => `$c${index}: String`).join(', ');
    const fields = some.map(
      (_cursor, index) => `p${index}: ${field}(${argument}: $c${index}, first: 1) { nodes { id } }`,
    );
    const variables = Object.fromEntries(some.map((cursor, index) => [`c${index}`, cursor]));
    const query = `query (${declared}) { ${under ?? '... on Query'} { ${fields.join('\n')} } }`;
    const { errors = [] } = await gateway.ask(query, { variables });
    for (const { message, extensions } of errors) {
      expect(message).toMatch(/^Expected `(after|before)` to be a cursor of this list with these filters, but got "/);
      expect(message.length).toBeLessThan(200);
      codes.push(extensions['code']);
    }
  }
  return codes;
}

describe('a tampered cursor', () => {
  test.each([
    ['projects', projects, 'after'],
    ['dashboards', dashboards, 'before'],
    ['plugins', plugins, 'after'],
    ['events', events, 'after'],
  ] as const)('of %s is refused without a call, whichever character was changed', async (_name, place, argument) => {
    const { upstream, gateway } = await startBoth(routes);
    // Beyond the first page a cursor of events also holds a time and an id.
    const { endCursor } = await askPage(gateway, place, { first: 3 });
    const { cursors } = await askPage(gateway, place, { first: 3, after: endCursor });
    upstream.reset();
    for (const cursor of [endCursor, ...cursors]) {
      const tampered = changed(cursor ?? '');
      expect(tampered.length).toBeGreaterThan(100);
      expect(await refusalsOf(gateway, place, argument, tampered)).toEqual(tampered.map(() => 'BAD_USER_INPUT'));
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('a foreign cursor', () => {
  test('is refused without a call: of another list, another project, another organization, another filter', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const filter = { event: '$pageview' };
    const lists: readonly (readonly [Place, object])[] = [
      [projects, {}],
      [dashboards, {}],
      [{ ...dashboards, under: 'project(id: 2)' }, {}],
      [{ ...plugins, under: 'organization(id: "018f1c4e-0000-7000-8000-00000000000a")' }, {}],
      [{ ...plugins, under: 'organization(id: "018f1c4e-0000-7000-8000-00000000000b")' }, {}],
      [events, {}],
      [events, { filter }],
      [events, { filter: { event: '$pageleave' } }],
      [events, { filter: { ...filter, distinctId: '1' } }],
      [events, { filter: { distinctId: '$pageview' } }],
      [events, { filter: { ...filter, where: ['1'] } }],
      [events, { filter: { occurredAfter: '2024-01-01T00:00:00Z' } }],
      [{ ...events, under: 'project(id: 2)' }, {}],
    ];
    const cursors: (string | null)[] = [];
    for (const [place, args] of lists) cursors.push((await askPage(gateway, place, { ...args, first: 2 })).endCursor);
    const refuseForeign = async (): Promise<void> => {
      for (const [index, [place, args]] of lists.entries()) {
        const others = cursors.filter((_cursor, other) => other !== index);
        const fields = others.map((after, at) => pageField(place, { ...args, after }, `p${at}`, 'nodes { id }'));
        const { errors = [] } = await gateway.ask(`{ ${place.under ?? '... on Query'} { ${fields.join('\n')} } }`);
        expect(errors.map(({ extensions }) => extensions['code'])).toEqual(others.map(() => 'BAD_USER_INPUT'));
      }
    };
    upstream.reset();
    await refuseForeign();
    expect(upstream.requests).toEqual([]);
    for (const [index, [place, args]] of lists.entries()) {
      expect((await askPage(gateway, place, { ...args, after: cursors[index] })).hasPreviousPage).toBe(true);
    }
    expect(upstream.requests).toHaveLength(lists.length);
    // That their own lists have taken them, and remember that, is nothing to the others.
    await refuseForeign();
    expect(upstream.requests).toHaveLength(lists.length);
  });

  test('of a list below @current is good for that list by its id, and the other way round, without a further call', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const organization = 'organization(id: "018f1c4e-0000-7000-8000-00000000000a")';
    const pairs: readonly (readonly [Place, Place])[] = [
      [dashboards, { ...dashboards, under: 'project(id: "@current")' }],
      [events, { ...events, under: 'project(id: "@current")' }],
      [{ ...plugins, under: organization }, plugins],
    ];
    for (const [one, other] of pairs.flatMap(([known, current]) => [
      [known, current] as const,
      [current, known] as const,
    ])) {
      const { endCursor } = await askPage(gateway, one, { first: 2 });
      upstream.reset();
      const { hasPreviousPage, rows } = await askPage(gateway, other, { first: 2, after: endCursor });
      expect([hasPreviousPage, rows.length]).toEqual([true, 2]);
      expect(upstream.requests).toHaveLength(1);
    }
    // Of another filter it is as foreign as ever.
    const { endCursor } = await askPage(gateway, { ...events, under: 'project(id: "@current")' }, { first: 2 });
    const field = pageField(events, { filter: { event: '$pageview' }, after: endCursor });
    const { errors } = await gateway.ask(`{ project(id: 1) { ${field} } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('of a gateway with another secret is refused, and one with the same secret takes over', async () => {
    await using upstream = await startUpstream(routes);
    await using one = await startGateway(upstream, { cursorSecret: 'one' });
    await using replica = await startGateway(upstream, { cursorSecret: 'one' });
    await using other = await startGateway(upstream, { cursorSecret: 'other' });
    const { endCursor } = await askPage(one, projects, { first: 2 });
    expect((await askPage(replica, projects, { first: 2, after: endCursor })).rows).toEqual(['3', '4']);
    await expect(askPage(other, projects, { first: 2, after: endCursor })).rejects.toThrow('BAD_USER_INPUT');
    expect(upstream.requests).toEqual(['GET /api/projects/?limit=2', 'GET /api/projects/?limit=2&offset=2']);
  });
});

describe('a cursor', () => {
  test('is bound to the list and not to the caller', async () => {
    const { gateway } = await startBoth(routes);
    const { endCursor } = await askPage(gateway, projects, { first: 2 });
    const answer = await gateway.ask(`{ ${pageField(projects, { first: 1, after: endCursor })} }`, {
      headers: { authorization: 'Bearer phx_somebody_else' },
    });
    expect(answer.data).toMatchObject({ projects: { nodes: [{ upstreamId: '3' }] } });
  });

  test('is bound to the same list, whichever form the owner was named in', async () => {
    const { gateway } = await startBoth(routes);
    const { endCursor } = await askPage(gateway, dashboards, { first: 2 });
    const globalId = Buffer.from('Project:1').toString('base64url');
    const byNode: Place = { ...dashboards, under: `node(id: "${globalId}") { ... on Project` };
    const answer = await gateway.ask(`{ ${byNode.under} { ${pageField(byNode, { first: 1, after: endCursor })} } } }`);
    expect(answer.data).toMatchObject({ node: { dashboards: { nodes: [{ upstreamId: '3' }] } } });
  });

  test('that the list has shrunk behind gives an empty page, at the cost of one call', async () => {
    const rows = rowsOf(9, listedDashboard);
    const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/dashboards/': listOf(rows) });
    const { cursors } = await askPage(gateway, dashboards, { first: 9 });
    rows.length = 4;
    upstream.reset();
    const nothing = { rows: [], cursors: [], startCursor: null, endCursor: null, totalCount: 4 };
    const beyond = { ...nothing, hasNextPage: false, hasPreviousPage: true };
    expect(await askPage(gateway, dashboards, { first: 2, after: cursors[6] })).toEqual(beyond);
    expect(await askPage(gateway, dashboards, { last: 2, after: cursors[6] })).toEqual(beyond);
    expect(await askPage(gateway, dashboards, { last: 2, before: cursors[8] })).toEqual(beyond);
    // Exactly at the end, as if the last page were asked for once more.
    expect(await askPage(gateway, dashboards, { first: 2, after: cursors[3] })).toEqual(beyond);
    expect(upstream.requests).toHaveLength(4);
  });

  test('of events that the list has shrunk behind gives an empty page', async () => {
    const rows = rowsOf(9, event);
    const { gateway } = await startBoth({ 'GET /api/projects/1/events/': eventsOf(rows) });
    const { endCursor, cursors } = await askPage(gateway, events, { first: 5 });
    rows.length = 2;
    const beyond = { rows: [], hasNextPage: false, hasPreviousPage: true, endCursor: null };
    expect(await askPage(gateway, events, { first: 2, after: endCursor })).toMatchObject(beyond);
    expect(await askPage(gateway, events, { first: 2, after: cursors[3] })).toMatchObject(beyond);
  });
});

describe('A cursor that is forged with a secret that was guessed', () => {
  const secret = 'secret of the tests';

  /** A cursor as the gateway makes it, whatever is in it. */
  function forged(list: string, payload: string): string {
    const code = createHmac('sha256', secret).update(`${list}\n${payload}`).digest().subarray(0, 12);
    return Buffer.concat([code, Buffer.from(payload)]).toString('base64url');
  }

  test.each([
    ['nothing', ''],
    ['no JSON', '{"offset'],
    ['no position', '{}'],
    ['null', 'null'],
    ['a text', '"1"'],
    ['a negative offset', '-1'],
    ['a broken offset', '1.5'],
    ['an endless offset', '1e999'],
    ['an offset beyond 2^53', '9007199254740993'],
    ['no offset', '[]'],
    ['a time that is no text', '[1,5,null,[]]'],
    ['a time that no URL can hold', '[1,"\\ud800",null,[]]'],
    ['a time of the boundary that is no text', '[1,null,null,5,[]]'],
    ['ids that are no list', '[1,null,null,null,"id"]'],
    ['ids that are no texts', '[1,null,null,null,[{}]]'],
  ])('and holds %s is refused as no cursor', async (_name, payload) => {
    const { upstream, gateway } = await startBoth(routes, { cursorSecret: secret });
    const [onProjects, onEvents] = ['/api/projects/', '/api/projects/1/events/'].map((list) => forged(list, payload));
    for (const argument of ['after', 'before']) {
      const codes = await refusalsOf(gateway, projects, argument, [onProjects ?? '']);
      expect(codes).toEqual(['BAD_USER_INPUT']);
    }
    expect(await refusalsOf(gateway, events, 'after', [onEvents ?? ''])).toEqual(['BAD_USER_INPUT']);
    expect(gateway.reported).toEqual([]);
    expect(upstream.requests).toEqual([]);
  });

  test('works if it is one that the gateway could have made', async () => {
    const { upstream, gateway } = await startBoth(routes, { cursorSecret: secret });
    const { errors } = await gateway.ask(
      `{ projects(first: 2, after: "${forged('/api/projects/', '3')}") { nodes { id } } }`,
    );
    expect(errors).toBeUndefined();
    expect(upstream.requests).toEqual(['GET /api/projects/?limit=2&offset=3']);
  });
});
