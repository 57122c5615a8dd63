import { describe, expect, test } from 'vitest';
import { askMcp, publicUrl } from '../support/agents.ts';
import { textAt } from '../support/connections.ts';
import { globalId } from '../support/current.ts';
import { GrowingEvents, quick, subscribe } from '../support/live.ts';
import { codesOf } from '../support/load.ts';
import { askById, documents, namesIn, routes, startBothListed, startListed, threeProjects } from '../support/roles.ts';
import { project } from '../support/rows.ts';
import { type Entries, startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';

describe('Without a role that the entry has', () => {
  test('everything is refused with 403 and 0 calls, on every way in', async () => {
    const { upstream, gateway } = await startBothListed({
      live: quick,
      explain: true,
      mcp: { tools: ['*'], publicUrl },
    });
    for (const user of ['acme', 'acme Viewer', 'acme owner __proto__ constructor']) {
      const answer = await gateway.askAs(user, threeProjects);
      expect([answer.status, codesOf(answer), answer.data]).toEqual([403, ['FORBIDDEN'], undefined]);
      const headers = await gateway.headersOf(user);
      const byGet = await fetch(`${gateway.url}?query=${encodeURIComponent(documents.unnamed)}`, { headers });
      expect(byGet.status).toBe(403);
      const plan = await gateway.askAs(user, threeProjects, { extensions: { explain: 'plan' } });
      expect([plan.status, plan.extensions]).toEqual([403, undefined]);
      await using stream = await subscribe(gateway.url, { headers });
      expect(stream.status).toBe(403);
      expect((await askMcp(gateway, 'tools/list', {}, { headers })).status).toBe(403);
    }
    expect(upstream.requests).toEqual([]);
    expect((await gateway.askAs('globex', threeProjects)).status).toBe(200);
  });

  test('a tenant without roles is as ever, whatever its tokens say', async () => {
    const { gateway } = await startBothListed();
    const answer = await gateway.askAs('globex viewer editor', threeProjects);
    expect(answer.data).toEqual({ one: null, two: null, three: { name: 'Project 3' } });
  });
});

describe('Reads reach', () => {
  test.each([
    ['acme viewer', ['Project 1', 'Project 2', 'Project 3']],
    ['acme local', ['Project 2']],
    ['acme local editor', ['Project 1', 'Project 2']],
    ['acme editor writer unknown', ['Project 1', 'Project 3']],
    ['acme viewer local', ['Project 1', 'Project 2', 'Project 3']],
  ])('what the roles of %s reach together', async (user, names) => {
    const { upstream, gateway } = await startBothListed();
    expect(namesIn((await gateway.askAs(user, threeProjects)).data)).toEqual(names);
    // Three are read as a page.
    expect(upstream.requests).toHaveLength(names.length === 3 ? 1 : names.length);
    const list = await gateway.askAs(user, '{ projects { totalCount } }');
    expect(list.data).toEqual({ projects: { totalCount: names.length } });
  });

  test('no more with a cursor or an id that was had with another role', async () => {
    const { gateway } = await startBothListed();
    const page = 'projects(first: 1) { edges { cursor } nodes { id } }';
    const first = await gateway.askAs('acme viewer', `{ ${page} }`);
    const id = textAt(first, 'data', 'projects', 'nodes', 0, 'id');
    const cursor = textAt(first, 'data', 'projects', 'edges', 0, 'cursor');
    expect((await gateway.askAs('acme local', `{ node(id: "${id}") { id } }`)).data).toEqual({ node: null });
    const next = await gateway.askAs('acme local', `{ projects(after: "${cursor}") { nodes { upstreamId } } }`);
    expect(namesIn(next.data)).toEqual([]);
  });
});

describe('A mutation', () => {
  const update = (id: number): string =>
    `updateDashboard(input: { projectId: ${id}, id: 7, name: "x" }) { dashboard { upstreamId project { name } } }`;
  const create = (id: number): string => `createDashboard(input: { projectId: ${id} }) { dashboard { upstreamId } }`;

  test('runs only if a role names it, and reaches only what the roles that name it reach', async () => {
    const { upstream, gateway } = await startBothListed();
    const ask = async (user: string, field: string): Promise<readonly unknown[]> =>
      codesOf(await gateway.askAs(user, `mutation { ${field} }`));
    for (const [user, field] of [
      ['acme viewer', update(1)],
      ['acme editor', update(2)],
      ['acme editor', update(3)],
      ['acme editor viewer', update(2)],
      ['acme editor', create(1)],
      ['acme editor writer', create(1)],
      ['acme editor writer viewer', create(1)],
      ['acme editor writer', update(2)],
      ['acme viewer', 'updateProject(input: { id: 1, name: "x" }) { project { id } }'],
    ] as const)
      expect([user, field, ...(await ask(user, field))]).toEqual([user, field, 'FORBIDDEN']);
    expect(upstream.requests).toEqual([]);
    for (const [user, field] of [
      ['acme editor', update(1)],
      ['acme editor writer', update(3)],
      ['acme viewer writer', create(3)],
    ] as const)
      expect([user, field, ...(await ask(user, field))]).toEqual([user, field]);
    expect(upstream.requests.filter((request) => !request.startsWith('GET'))).toEqual([
      'PATCH /api/projects/1/dashboards/7/',
      'PATCH /api/projects/3/dashboards/7/',
      'POST /api/projects/3/dashboards/',
    ]);
  });

  test('is refused beside another one of the same operation, which is done', async () => {
    const { upstream, gateway } = await startBothListed();
    const answer = await gateway.askAs('acme editor writer', `mutation { a: ${create(1)} b: ${create(3)} }`);
    expect(codesOf(answer)).toEqual(['FORBIDDEN']);
    expect(upstream.requests).toEqual(['POST /api/projects/3/dashboards/']);
  });

  test('of a role with limited reach is held to it even if reads reach all that the key sees', async () => {
    await using upstream = await startUpstream(routes);
    const wide: Entries = {
      acme: {
        key: 'k',
        mutations: true,
        roles: { viewer: {}, editor: { projects: ['1'], mutations: true } },
      },
    };
    await using gateway = await startTenants(upstream, wide);
    const read = await gateway.askAs('acme viewer editor', '{ project(id: 3) { name } }');
    expect(read.data).toEqual({ project: { name: 'Project 3' } });
    upstream.reset();
    for (const field of [
      update(2),
      'updateProject(input: { id: "@current", name: "x" }) { project { id } }',
      'createProject(input: { name: "x" }) { project { id } }',
      `updateProject(input: { id: 1, extra: { a: 1 } }) { project { id } }`,
      `updateProject(input: { id: 1, primaryDashboardId: "7" }) { project { id } }`,
      `updateProject(input: { id: 1, primaryDashboardId: "${globalId('Dashboard:2:7')}" }) { project { id } }`,
    ]) {
      const answer = await gateway.askAs('acme viewer editor', `mutation { ${field} }`);
      expect([field, codesOf(answer).length]).toEqual([field, 1]);
    }
    expect(upstream.requests).toEqual([]);
    expect(codesOf(await gateway.askAs('acme viewer editor', `mutation { ${update(1)} }`))).toEqual([]);
  });
});

describe('Whole operations are shared', () => {
  test('by none that began before a write of the same user in another role', async () => {
    let name = 'old';
    const gate = Promise.withResolvers<void>();
    await using upstream = await startUpstream({
      'GET /api/projects/:id/': async () => {
        const row = project(1, { name });
        if (name === 'old') await gate.promise;
        return row;
      },
      'PATCH /api/projects/:id/': () => {
        name = 'new';
        return project(1, { name });
      },
    });
    upstream.release();
    const split: Entries = {
      acme: {
        key: 'k',
        mutations: true,
        roles: { reader: { documents: ['Read'] }, changer: { documents: ['Change'], mutations: true } },
      },
    };
    const listed = { read: 'query Read { project(id: 1) { name } }', change: documents.change };
    await using gateway = await startListed(upstream, {}, { given: split, listed });
    const user = 'acme reader changer';
    const before = askById(gateway, user, 'read');
    await expect.poll(() => upstream.requests.length).toBe(1);
    expect(codesOf(await askById(gateway, user, 'change'))).toEqual([]);
    const after = await askById(gateway, user, 'read');
    gate.resolve();
    expect([(await before).data, after.data]).toEqual([{ project: { name: 'old' } }, { project: { name: 'new' } }]);
  });
});

describe('Streams', () => {
  test('end when one of their roles changes, and go on when another one does', async () => {
    const events = new GrowingEvents();
    events.add(1, '2024-05-01T10:00:00Z');
    await using upstream = await startUpstream({ 'GET /api/projects/1/events/': events.list });
    upstream.release();
    const acme = { key: 'k', projects: ['1', '2'] };
    const roles = { viewer: { projects: ['1'] }, editor: {} };
    await using gateway = await startTenants(upstream, { acme: { ...acme, roles } }, { live: quick });
    const heardBy = async (user: string) => subscribe(gateway.url, { headers: await gateway.headersOf(user) });
    await using viewer = await heardBy('acme viewer');
    await using editor = await heardBy('acme editor');
    await using both = await heardBy('acme viewer editor');
    await expect.poll(() => upstream.requests.length).toBeGreaterThan(2);
    gateway.take({ acme: { ...acme, roles: { ...roles, editor: { projects: ['1'] } } } });
    for (const stream of [editor, both]) {
      await stream.until(() => stream.ended !== undefined);
      expect(stream.messages).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
    }
    const added = events.add(1, '2024-05-01T10:00:01Z');
    await viewer.until(() => viewer.ids().length === 1);
    expect(viewer.ids()).toEqual(added);
    gateway.take({ acme: { ...acme, roles: { editor: {} } } });
    await viewer.until(() => viewer.ended !== undefined);
    expect(viewer.messages.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });

  test('are refused where no role reaches, and are not shared with one that does', async () => {
    const events = new GrowingEvents();
    await using upstream = await startUpstream({ 'GET /api/projects/1/events/': events.list });
    upstream.release();
    const roles = { viewer: { projects: ['1'] }, local: { projects: ['2'] } };
    await using gateway = await startTenants(upstream, { acme: { key: 'k', roles } }, { live: quick });
    await using viewer = await subscribe(gateway.url, { headers: await gateway.headersOf('acme viewer') });
    await expect.poll(() => upstream.requests.length).toBeGreaterThan(0);
    await using local = await subscribe(gateway.url, { headers: await gateway.headersOf('acme local') });
    await local.until(() => local.ended !== undefined);
    expect(local.messages).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND' } }] }]);
    expect(viewer.ended).toBe(undefined);
  });
});
