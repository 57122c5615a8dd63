import fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { readDocument } from '../../src/workspace/document.ts';
import { addRoutes } from '../../src/workspace/routes.ts';
import { openStore } from '../../src/workspace/store.ts';
import { type Members, membersOf, resultsOf, startClient } from './client.ts';

const document = readDocument();
const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

const project = '/api/projects/{project_id}/';
const plugins = '/api/organizations/{parent_lookup_organization_id}/plugins/';

type Exchange = readonly [method: string, path: string, sent: string, body?: object];

/** Every operation: its method, its path in the document, the request that is sent, and its body. */
const exchanges: readonly Exchange[] = [
  ['GET', '/api/projects/', ''],
  ['POST', '/api/projects/', '', { name: 'New' }],
  ['GET', '/api/projects/{id}/', '1/'],
  ['PATCH', '/api/projects/{id}/', '1/', { is_demo: true }],
  ['DELETE', '/api/projects/{id}/', '4/'],
  ['GET', `${project}dashboards/`, ''],
  ['POST', `${project}dashboards/`, '', { use_dashboard: 1 }],
  ['GET', `${project}dashboards/{id}/`, '1/'],
  ['PATCH', `${project}dashboards/{id}/`, '1/', { pinned: false }],
  ['DELETE', `${project}dashboards/{id}/`, '1/'],
  ['PATCH', `${project}dashboards/{id}/move_tile/`, '1/move_tile/', { tile: { id: 1 }, toDashboard: 2 }],
  ['POST', `${project}dashboards/create_from_template_json/`, '', { template: { tiles: [] } }],
  ['GET', `${project}events/`, ''],
  ['GET', `${project}events/{id}/`, '{event}/'],
  ['GET', `${project}events/values/`, '?key=$lib'],
  ['GET', plugins, ''],
  ['POST', plugins, '', { name: 'New' }],
  ['GET', `${plugins}{id}/`, '1/'],
  ['PATCH', `${plugins}{id}/`, '1/', { name: 'Renamed' }],
  ['DELETE', `${plugins}{id}/`, '2/'],
  ['GET', `${plugins}{id}/check_for_updates/`, '1/check_for_updates/'],
  ['GET', `${plugins}{id}/source/`, '5/source/'],
  ['PATCH', `${plugins}{id}/update_source/`, '5/update_source/', { 'index.ts': '' }],
  ['POST', `${plugins}{id}/upgrade/`, '1/upgrade/', {}],
  ['GET', `${plugins}activity/`, ''],
  ['GET', `${plugins}exports_unsubscribe_configs/`, ''],
  ['GET', `${plugins}repository/`, ''],
  ['GET', `${plugins}unused/`, ''],
];

test('the exchanges below are all the operations of the document', () => {
  const operations = Object.entries(membersOf(document.paths)).flatMap(([path, item]) =>
    Object.keys(membersOf(item))
      .filter((method) => method !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(exchanges.map(([method, path]) => `${method} ${path}`).toSorted()).toEqual(operations.toSorted());
});

test.each(exchanges.map(toRequest))('$method $path answers as the document says', async (request) => {
  const { method, path, sent, body } = request;
  const { status, body: answered } = await client.send(method, await targetOf(path, sent), body);
  const responses = membersOf(membersOf(membersOf(membersOf(document.paths)[path])[method.toLowerCase()]).responses);
  expect(Object.keys(responses)).toContain(String(status));
  const { content } = membersOf(responses[String(status)]);
  expect(await errorsOf(content, answered)).toBeNull();
});

function toRequest([method, path, sent, body]: Exchange) {
  return { method, path, sent, body };
}

/** `sent` is what follows the part of the path that has no parameter of its own. */
async function targetOf(path: string, sent: string): Promise<string> {
  const [event] = resultsOf(await client.read('/api/projects/1/events/?limit=1'));
  const start = path.replace('{project_id}', '1').replace('{parent_lookup_organization_id}', '@current');
  return start.replace(/\{id\}.*/, '') + sent.replace('{event}', String(event?.id));
}

/** What is wrong with a body of which the document says `content`; null if nothing is. */
async function errorsOf(content: unknown, body: unknown): Promise<unknown> {
  if (content === undefined) return body === '' ? null : 'expected no body';
  const { schema } = membersOf(membersOf(content)['application/json']);
  const app = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } } });
  app.addSchema({ $id: 'rest', ...document });
  app.get('/', (request) => {
    const validate = request.compileValidationSchema(absolute(schema));
    return { errors: validate(body) ? null : validate.errors };
  });
  const { errors } = membersOf((await app.inject('/')).json());
  return errors;
}

/** The schema with its references pointing into the document. */
function absolute(schema: unknown): Members {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"rest#');
  return membersOf(JSON.parse(text));
}

test('an operation without a handler fails the start', () => {
  const unknown = { paths: { '/api/insights/': { get: { operationId: 'listInsights' } } } };
  expect(() => addRoutes(fastify(), unknown, openStore(':memory:'), {})).toThrow('listInsights has no handler');
});
