import { parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { toGlobalId } from '../../src/graphql/ids.ts';
import type { Log } from '../../src/log.ts';
import { CompileTime, createExecute } from '../../src/operation/execute.ts';
import { coercedVariables } from '../../src/operation/params.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { createSchema, createSchemas } from '../../src/schema.ts';
import { contextOf, operationIn } from '../property/upstream.ts';
import { startBoth } from '../support/both.ts';
import { inForm } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { codesOf, together } from '../support/load.ts';
import { createFolder } from '../support/persisted.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { shareSmallGateway, startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';
const routes = { 'GET /api/projects/1/': project(1) };

const attacked = shareSmallGateway(routes, query);

test('a document of more bytes than the limit is refused with 400 before it is parsed', async () => {
  const { upstream, gateway } = await startBoth(routes);
  const room = 131_072 - Buffer.byteLength(`${query}#`);
  const largest = await gateway.ask(`${query}#${'x'.repeat(room)}`);
  expect(largest.body).toBe(whole);
  for (const comment of ['x'.repeat(room + 1), `${'x'.repeat(room - 1)}é`]) {
    const { status, body } = await gateway.ask(`${query}#${comment}`);
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      {
        errors: [
          {
            message: 'The document exceeds a limit: at most 131072 bytes are allowed, but it has 131073.',
            extensions: { code: 'LIMIT_EXCEEDED' },
          },
        ],
      },
    ]);
  }
  expect(upstream.requests).toHaveLength(1);
});

test('an error finds its place in a document with comments, in both executions', async () => {
  const { gateway } = await startBoth({});
  for (let times = 0; times < 3; times += 1) {
    const { errors } = await gateway.ask('# one\n# two\n{ __typename\n  project(id: "x y") { name } } # three');
    expect(errors).toMatchObject([{ path: ['project'], locations: [{ line: 4, column: 3 }] }]);
  }
});

test('comments of remembered documents take no more memory than their text', { timeout: 120_000 }, async () => {
  const { gateway } = attacked();
  const comments = '#\n'.repeat(65_000);
  await withstand(gateway, async () => {
    await together(inForm(120, 400), 4, async (index) => {
      expect((await gateway.ask(`query Q${index} ${query} ${comments}`)).body).toBe(whole);
    });
    const long = await gateway.ask(`${query} ${'#\n'.repeat(300_000)}`);
    expect([long.status, codesOf(long)]).toEqual([400, ['LIMIT_EXCEEDED']]);
  });
});

test('what no operation reads of a request is not kept while it waits', { timeout: 120_000 }, async () => {
  const waiting = 60;
  await using upstream = await startUpstream(routes, { hold: Number.POSITIVE_INFINITY });
  await using gateway = await startSmallGateway(upstream, { OPERATION_DEADLINE_MS: '60000' });
  const first = gateway.ask(query);
  await expect.poll(() => upstream.requests.length).toBe(1);
  // As many as the process takes at a time: what is parsed of each body takes 700 KB.
  const junk = `[${Array.from({ length: 5000 }, () => '{}').join()}]`;
  const bodies = [
    `{"query":"${query}","variables":{"junk":${junk},"more":${junk}}}`,
    `{"query":"${query}","extensions":{"cost":${junk},"junk":${junk}}}`,
    `{"query":"${query}","junk":${junk},"id":""}`,
  ];
  await withstand(gateway, async () => {
    const answers = together(waiting, waiting, (index) =>
      sendRaw(gateway.url, {
        headers: ['content-type', 'application/json', 'authorization', `Bearer phx_${index}`],
        body: bodies[index % bodies.length] ?? '',
      }),
    );
    await expect.poll(() => upstream.requests.length).toBe(1 + waiting);
    const { live } = await gateway.weigh();
    expect(live).toBeLessThan(150 * 2 ** 20);
    upstream.release();
    for (const { body } of await answers) expect(body).toBe(whole);
  });
  expect((await first).body).toBe(whole);
});

test('a name of 900 kB is cut in every log line', async () => {
  await using upstream = await startUpstream(routes);
  using folder = createFolder();
  const logged: string[] = [];
  const persisted = { files: folder.write('m.json', { one: '{ __typename }' }), mode: 'log' as const };
  const log: Log = (_level, message, facts) => void logged.push(`${message} ${JSON.stringify(facts)}`);
  await using gateway = await startGateway(upstream, { persisted, log });
  const operationName = 'x'.repeat(900_000);
  const { errors } = await gateway.ask(query, { operationName });
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  const named = logged.filter((line) => line.includes('xxx'));
  expect(named.map((line) => line.split(' {')[0])).toEqual(['a document that is not listed was sent', 'operation']);
  for (const line of named) expect(line.length).toBeLessThan(500);
});

test('small documents whose fragments spread to thousands of selections keep no code', {
  timeout: 120_000,
}, async () => {
  const { gateway } = attacked();
  const levels = Array.from(
    { length: 12 },
    (_, level) => `fragment F${level} on Project { ...F${level + 1} ...F${level + 1} }`,
  );
  const fragments = `${levels.join(' ')} fragment F12 on Project { name }`;
  await withstand(gateway, async () => {
    await together(inForm(60, 200), 4, async (index) => {
      for (let times = 0; times < 3; times += 1)
        expect((await gateway.ask(`query Q${index} { project(id: 1) { ...F0 } } ${fragments}`)).body).toBe(whole);
    });
  });
});

test('an operation without data is never compiled, one with data once', async () => {
  const schemas = createSchemas(createSchema());
  let compilations = 0;
  const document = parse('query Q($id: ID!) { node(id: $id) { id } }');
  const operation = operationIn(document);
  const run = createExecute({ schemas, introspection: true }, document, operation, 'when repeated', () => {
    compilations += 1;
  });
  const id = toGlobalId({ type: 'Organization', scope: '', id: '018f3c5e-7b1a-7c3d-9e2f-0123456789ab' });
  const fail = (): Promise<never> => Promise.reject(new Error('nothing is read'));
  const context = contextOf({ read: fail, write: fail }, createCursorCodec('secret'), 100);
  const variables = coercedVariables({ schemas, introspection: true }, operation, { id });
  for (let times = 0; times < 3; times += 1)
    await run({ ...context, keyFault: new UpstreamError('UNAUTHENTICATED') }, variables);
  expect(compilations).toBe(0);
  for (let times = 0; times < 4; times += 1) expect((await run(context, variables)).data).toEqual({ node: { id } });
  expect(compilations).toBe(1);
});

test('compiling takes a tenth of each second, and what found no room is compiled later', () => {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const time = new CompileTime();
  const takes60Ms = (): void => {
    now += 60;
  };
  expect([1, 2, 3].map(() => time.spend(takes60Ms))).toEqual([true, true, false]);
  now += 1000;
  expect(time.spend(takes60Ms)).toBe(true);
});
