import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { metricsOf } from '../support/metrics.ts';
import * as rows from '../support/rows.ts';

const routes = { 'GET /api/projects/1/': rows.project(1), 'GET /api/projects/2/': rows.project(2) };
const named = (name: string, id = 1): string => `query ${name} { project(id: ${id}) { name } }`;

test('operations, errors and REST calls are counted by client, operation and document, and add up to all calls', async () => {
  const { upstream, gateway } = await startBoth(routes);
  const apollo = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1.2' };
  const plain = { 'x-client-name': 'ios', 'x-client-version': '7' };
  await gateway.ask(named('Open'), { headers: apollo });
  await gateway.ask(named('Open'), { headers: apollo });
  await gateway.ask('query Open { project(id: 3) { name } }', { headers: apollo });
  await gateway.ask(named('Both', 2), { headers: plain });
  await gateway.ask('{ project(id: 1) { name } }');
  const { operations, otherRestCalls } = await gateway.gateway.metrics.usage();
  expect(otherRestCalls).toBe(0);
  expect(operations.map((row) => ({ ...row, lastAt: '' }))).toEqual([
    {
      client: 'web',
      version: '1.2',
      operation: 'Open',
      document: null,
      operations: 3,
      errors: 0,
      restCalls: 3,
      lastAt: '',
    },
    {
      client: 'ios',
      version: '7',
      operation: 'Both',
      document: null,
      operations: 1,
      errors: 0,
      restCalls: 1,
      lastAt: '',
    },
    {
      client: '',
      version: '',
      operation: 'anonymous',
      document: null,
      operations: 1,
      errors: 0,
      restCalls: 1,
      lastAt: '',
    },
  ]);
  expect(operations.reduce((sum, { restCalls }) => sum + restCalls, 0)).toBe(upstream.requests.length);
  expect((await metricsOf(gateway)).match(/^gateway_client_operations_total.*$/gm)).toEqual([
    'gateway_client_operations_total{client="web",version="1.2",result="ok"} 3',
    'gateway_client_operations_total{client="web",version="1.2",result="error"} 0',
    'gateway_client_operations_total{client="ios",version="7",result="ok"} 1',
    'gateway_client_operations_total{client="ios",version="7",result="error"} 0',
    'gateway_client_operations_total{client="",version="",result="ok"} 1',
    'gateway_client_operations_total{client="",version="",result="error"} 0',
  ]);
});

test('names are taken only by operations without errors that made REST calls, a hundred of them at most', async () => {
  const { gateway } = await startBoth(routes);
  const as = (name: string): { headers: Record<string, string> } => ({ headers: { 'x-client-name': name } });
  await gateway.ask('{ nothing }', as('with errors'));
  await gateway.ask('{ __typename }', as('without a call'));
  await gateway.ask(named('Open'), as('x'.repeat(1000)));
  for (let client = 0; client < 120; client += 1) await gateway.ask(named('Open'), as(`client ${client}`));
  const { operations } = await gateway.gateway.metrics.usage();
  const clients = new Set(operations.map(({ client }) => client));
  expect(clients.size).toBe(101);
  expect([...clients]).toEqual(expect.arrayContaining(['x'.repeat(100), 'client 0', 'client 98', 'other']));
  expect(operations.reduce((sum, row) => sum + row.operations, 0)).toBe(123);
  expect(operations.filter(({ client }) => client === 'other')).toMatchObject([
    { operation: 'other', operations: 2, errors: 1, restCalls: 0 },
    { operation: 'Open', operations: 21, errors: 0, restCalls: 21 },
  ]);
});

test('the log names the client of an operation, without control characters', async () => {
  const lines: (object | undefined)[] = [];
  const { gateway } = await startBoth(routes, { log: (_level, _message, fields) => void lines.push(fields) });
  const headers = { 'x-client-name': ' web\tapp ', 'x-client-version': '1' };
  await gateway.ask(named('Open'), { headers });
  await gateway.ask(named('Open'));
  expect(lines).toMatchObject([{ client: 'webapp', clientVersion: '1' }, { client: undefined }]);
});
