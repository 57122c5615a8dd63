import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { at, rowsOf } from '../support/connections.ts';
import { eventsOf } from '../support/lists.ts';
import { createFolder, send } from '../support/persisted.ts';
import type { Routes } from '../support/routes.ts';
import { event, project } from '../support/rows.ts';

const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/events/': eventsOf(rowsOf(100, event)),
};

/** Events of the project of each event: two calls and 101 rows, and as many objects as `first` squared. */
function backAndForth(first: number): string {
  const inner = `project { events(first: ${first}) { nodes { event } } }`;
  return `{ project(id: 1) { name events(first: ${first}) { nodes { ${inner} } } } }`;
}

test('an operation that could answer too many objects is refused before its first call', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerObjects: 5000 });
  const { status, errors } = await gateway.ask(backAndForth(100));
  expect({ status, errors }).toEqual({
    status: 200,
    errors: [
      {
        message:
          'The operation may answer up to 10302 objects, 10000 of them for `project.events.nodes.project.events.nodes`, but the limit is 5000.',
        extensions: {
          code: 'COST_LIMIT_EXCEEDED',
          objects: 10_302,
          limit: 5000,
          path: 'project.events.nodes.project.events.nodes',
        },
      },
    ],
  });
  expect(upstream.requests).toEqual([]);
  const honest = await gateway.ask(backAndForth(10));
  expect(honest.errors).toBeUndefined();
  expect(upstream.requests).toHaveLength(2);
});

test('variables decide how many objects an operation could answer', async () => {
  const { gateway } = await startBoth(routes, { maxAnswerObjects: 1000 });
  const query =
    'query ($n: Int) { project(id: 1) { name events(first: $n) { nodes { project { events(first: $n) { nodes { id } } } } } } }';
  const codes = [];
  for (const variables of [{ n: 30 }, { n: 31 }, {}, { n: 'x' }]) {
    const { errors } = await gateway.ask(query, { variables });
    codes.push(errors?.[0]?.extensions['code']);
  }
  expect(codes).toEqual([undefined, 'COST_LIMIT_EXCEEDED', 'COST_LIMIT_EXCEEDED', 'BAD_USER_INPUT']);
});

test('a mutation that could answer too much is refused before it changes anything', async () => {
  const { upstream, gateway } = await startBoth(routes, { maxAnswerObjects: 5000 });
  const { errors } = await gateway.ask(
    `mutation { updateProject(input: { id: 1, name: "new" }) { ${backAndForth(100).slice(2, -2).replace('(id: 1)', '')} } }`,
  );
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', limit: 5000 });
  expect(upstream.requests).toEqual([]);
});

test('listed documents are held to the limit of objects, too', async () => {
  using folder = createFolder();
  const files = folder.write('listed.json', { wide: backAndForth(100) });
  const { upstream, gateway } = await startBoth(routes, { maxAnswerObjects: 5000, persisted: { files } });
  const { errors } = await send(gateway.url, { documentId: 'wide' });
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', objects: 10_302 });
  expect(upstream.requests).toEqual([]);
});

test('the plan says how many objects an operation answers at most', async () => {
  const { gateway } = await startBoth(routes, { explain: true });
  const { extensions } = await gateway.ask(backAndForth(100), { extensions: { explain: 'plan' } });
  expect(at(extensions, 'explain', 'objects')).toBe(10_302);
});

test('introspection is answered in full, and has no more bytes than any answer if aliases repeat it', async () => {
  const { gateway } = await startBoth(routes, { maxAnswerBytes: 524_288 });
  const headers = { authorization: '' };
  const whole = await gateway.ask(getIntrospectionQuery(), { headers });
  expect(whole.errors).toBeUndefined();
  const aliases = Array.from({ length: 20 }, (_, index) => `a${index}: __schema { ...S }`);
  const many = `{ ${aliases.join(' ')} } fragment S on __Schema { types { name description fields { name description } } }`;
  const { errors, body } = await gateway.ask(many, { headers });
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', limit: 524_288 });
  expect(body.length).toBeLessThan(1000);
});
