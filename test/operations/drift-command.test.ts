import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { differencesOf, drift, findingsOf, type Read, readAll } from '../../src/commands/drift.ts';
import { documentText } from '../../src/commands/drift-patch.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { isObject } from '../../src/rest/values.ts';
import { createReader } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/declaration.ts';
import { answersOf } from '../../tools/codegen/answers.ts';
import type { Dialect } from '../../workspace/dialects.ts';
import { startWorkspace } from '../../workspace/workspace.ts';
import { key } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';
import { type JsonObject, refusal } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const organization = '018f1c4e-0000-7000-8000-00000000000a';
const openapi = readFileSync(new URL('../../schema/rest.openapi.yaml', import.meta.url), 'utf8');

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drift-'));
  await writeFile(join(folder, 'key'), `${key}\n`);
  await writeFile(join(folder, 'no-key'), 'two words\n');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function configFor(upstreamUrl: string, keyFile = join(folder, 'key')): ReturnType<typeof createReader> {
  return createReader({ UPSTREAM_URL: upstreamUrl, DRIFT_KEY_FILE: keyFile });
}

/** The lines before the patch: the differences, with their columns apart by one blank. */
function linesOf(text: string): readonly string[] {
  const [table = ''] = text.split('\n\n', 1);
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.replaceAll(/ +/g, ' '));
}

function patched(patch: string): string {
  if (patch === '') return openapi;
  const result = applyPatch(openapi, patch);
  if (result === false) throw new Error('the patch does not fit the document');
  return result;
}

describe('drift', () => {
  const of2024 = [
    'getDashboard missing_column use_template',
    'getDashboard missing_column use_dashboard',
    'getDashboard missing_column delete_insights',
    'listPlugins unknown_enum plugin_type',
  ];
  const of2026 = [
    ...['listProjects', 'getProject'].flatMap((operation) => [
      `${operation} unknown_column secret_api_token`,
      `${operation} unknown_column product_intents`,
    ]),
    ...['listDashboards', 'getDashboard'].flatMap((operation) => [
      `${operation} unknown_column created_by.role_at_organization`,
      `${operation} unknown_column user_access_level`,
      `${operation} unknown_column last_accessed_at`,
    ]),
    'listDashboards unknown_enum restriction_level',
    'listDashboards unknown_enum effective_restriction_level',
    'getDashboard unknown_column persisted_filters',
    'getDashboard unknown_column variables',
    ...of2024,
  ];

  test.each<[dialect: Dialect, expected: readonly string[]]>([
    ['document', []],
    ['2024', of2024],
    ['2026', of2026],
  ])('prints exactly how the dialect %s differs, and the patch that mends it', async (dialect, expected) => {
    const workspace = await startWorkspace({ port: 0, host: '127.0.0.1', dialect });
    try {
      await writeFile(join(folder, dialect), workspace.demoKey);
      const said: string[] = [];
      const { text, exitCode } = await drift([], configFor(workspace.url, join(folder, dialect)), (line) =>
        said.push(line),
      );
      expect(said).toEqual(['Reads each GET operation once: at most 15 REST calls, and one more for each that fails.']);
      expect(linesOf(text).toSorted()).toEqual(expected.toSorted());
      expect(exitCode).toBe(expected.length === 0 ? 0 : 1);
      expect(text).toMatch(new RegExp(`(^|\\n)${expected.length} differences in 15 answers$`));
      expect(text).not.toContain(workspace.demoKey);

      const { patch } = findingsOf(await readAll(() => plainClient(workspace.url, workspace.demoKey)), openapi);
      expect(text).toContain(patch.trimEnd());
      expect(await left(workspace.url, workspace.demoKey, patched(patch))).toEqual([]);
    } finally {
      await workspace.close();
    }
  });

  const routes: Routes = {
    'GET /api/projects/': page(rows.listedProject(7)),
    'GET /api/projects/7/': rows.project(7),
    'GET /api/projects/7/dashboards/': page(),
    'GET /api/projects/7/events/': { next: null, results: [rows.event(1, { id: 'a b' })] },
    'GET /api/projects/7/events/values/': [{ name: 'Firefox' }],
    'GET /api/projects/7/events/a%20b/': rows.event(1),
    [`GET /api/organizations/${organization}/plugins/`]: refusal(403, 'permission_denied', 'No.'),
    [`GET /api/organizations/${organization}/plugins/unused/`]: ['no', 'ids'],
  };

  test('reads each GET operation once, and says which it cannot read', async () => {
    await using upstream = await startUpstream(routes, { hold: 1 });
    const { text, exitCode } = await drift(['--json'], configFor(upstream.url), () => undefined);
    expect(upstream.requests).toEqual([
      'GET /api/projects/',
      'GET /api/projects/7/',
      'GET /api/projects/7/dashboards/',
      'GET /api/projects/7/events/',
      'GET /api/projects/7/events/values/?key=%24browser',
      'GET /api/projects/7/events/a%20b/',
      ...['', 'activity/', 'exports_unsubscribe_configs/', 'repository/', 'unused/'].map(
        (report) => `GET /api/organizations/${organization}/plugins/${report}`,
      ),
    ]);
    expect(JSON.parse(text)).toEqual({
      calls: 7,
      differences: [{ operation: 'listUnusedPlugins', kind: 'wrong_type', column: '*' }],
      unread: [
        { operation: 'getDashboard', reason: 'there is no row to read' },
        { operation: 'listPlugins', reason: 'FORBIDDEN (403)' },
        { operation: 'listPluginActivity', reason: 'NOT_FOUND (404)' },
        { operation: 'listPluginExportsUnsubscribeConfigs', reason: 'NOT_FOUND (404)' },
        { operation: 'listPluginRepository', reason: 'NOT_FOUND (404)' },
        { operation: 'getPlugin', reason: 'there is no row to read' },
        { operation: 'checkPluginForUpdates', reason: 'there is no row to read' },
        { operation: 'getPluginSource', reason: 'there is no row to read' },
      ],
      patch: '',
    });
    expect(exitCode).toBe(1);
  });

  test('says what is wrong if it cannot read anything', async () => {
    await using upstream = await startUpstream(() => refusal(401, 'authentication_failed', 'Invalid key.'));
    const run = (environment: Readonly<Record<string, string>>): Promise<unknown> =>
      Promise.resolve(drift([], createReader(environment), () => undefined));
    const file = join(folder, 'key');
    const unset = 'because the command drift reads the upstream, but it is not set';
    const wrong = [
      [
        {},
        `DRIFT_KEY_FILE: expected the path of a file with an API key, ${unset}; UPSTREAM_URL: expected ${settings['UPSTREAM_URL']?.expected}, ${unset}`,
      ],
      [
        { DRIFT_KEY_FILE: `${file}s`, UPSTREAM_URL: upstream.url },
        'DRIFT_KEY_FILE: expected the path of a file with an API key, but there is no file at that path',
      ],
      [
        { DRIFT_KEY_FILE: join(folder, 'no-key'), UPSTREAM_URL: upstream.url },
        'DRIFT_KEY_FILE: expected a file that holds one API key, but it holds something else',
      ],
      [
        { DRIFT_KEY_FILE: file, UPSTREAM_URL: 'embedded' },
        'UPSTREAM_URL: expected the URL of a REST API, but it is the embedded workspace',
      ],
      [
        { DRIFT_KEY_FILE: file, UPSTREAM_URL: upstream.url },
        'drift: no operation could be read: UNAUTHENTICATED (401)',
      ],
    ] as const;
    for (const [environment, message] of wrong) await expect(run(environment)).rejects.toThrow(message);
    expect(upstream.requests).toEqual(['GET /api/projects/']);
  });

  test('is a command, over a workspace that speaks a dialect', async () => {
    await using workspace = runMain(['workspace'], { WORKSPACE_PORT: '0', WORKSPACE_DIALECT: '2024' });
    const [, url = '', demoKey = ''] = await workspace.printed(/Workspace +(\S+)\nDemo key +(\S+)\n/);
    await writeFile(join(folder, 'demo'), demoKey);
    await using running = runMain(['drift'], { UPSTREAM_URL: url, DRIFT_KEY_FILE: join(folder, 'demo') });
    expect(await running.exit()).toBe(1);
    expect(running.output()).toMatch(/^Reads each GET operation once: at most 15 REST calls/);
    expect(running.output()).toMatch(/\n4 differences in 15 answers\n$/);
  });
});

describe('the patch', () => {
  test('leaves the form of lines as it is', () => {
    expect(documentText(parseDocument(openapi))).toBe(openapi);
  });

  test.each<[difference: string, read: Read, line: string]>([
    ['a column of another type', dashboard({ name: 7 }), "+        name: { type: [string, 'null', integer]"],
    ['an item of another type', dashboard({ tags: [7] }), "+          items: { type: [string, 'null', integer] }"],
    ['an object of another type', dashboard({ created_by: 'Ada' }), "{ type: 'null' }, { type: string }]"],
    ['a null', dashboard({ id: null }), "+        id: { type: [integer, 'null']"],
    ['a new value', dashboard({ restriction_level: 99 }), '+          x-known-values: [21, 37, 99]'],
    ['a new text', plugin({ plugin_type: 'in: line' }), "source, 'in: line']"],
    ['a new text with brackets', plugin({ plugin_type: '[ a ]' }), "source, '[ a ]']"],
    ['a new column with brackets', dashboard({ 'a [ b ] c': 1 }), "+        a [ b ] c: { type: [integer, 'null'],"],
    ['a new column', dashboard({ a: 1, 'b: c': true }), "+        a: { type: [integer, 'null'], description:"],
    ['a new column of a user', dashboard({ created_by: { role: null } }), '+        role: { description:'],
    [
      'a column that is gone',
      without(dashboard(), 'pinned'),
      '+        pinned:\n+          {\n+            writeOnly: true,',
    ],
  ])('allows %s', (_difference, read, line) => {
    const { patch } = findingsOf([read], openapi);
    expect(patch).toContain(line);
    expect(differencesOf(read, answersOf(patched(patch)))).toEqual([]);
    expect(differencesOf(read)).not.toEqual([]);
  });
});

test('what the list and the object itself have in common is mended once, whatever differs there', () => {
  const changes = { name: 7, a: 1, b: 'x' };
  const ofDetail = new Set(['use_template', 'use_dashboard', 'delete_insights', 'filters', 'tiles', 'pinned']);
  const inList = (id: number | null): JsonObject => {
    const columns = Object.entries(rows.dashboard(2, changes)).filter(([column]) => !ofDetail.has(column));
    return { ...Object.fromEntries(columns), id };
  };
  const target = '/api/projects/1/dashboards/';
  const list: Read = { operation: operations.listDashboards, target, body: page(inList(2), inList(null)) };
  const reads = [list, without(dashboard({ ...changes, id: 'x' }), 'pinned')];
  const { patch } = findingsOf(reads, openapi);
  const added = [...patch.matchAll(/^\+ +(.*?)(?:, description.*)?$/gm)].map(([, line]) => line);
  expect(added).toEqual([
    "a: { $ref: '#/components/schemas/Dashboard/properties/a' }",
    "b: { $ref: '#/components/schemas/Dashboard/properties/b' }",
    "id: { type: [integer, 'null', string]",
    "name: { type: [string, 'null', integer]",
    // A definition that would be longer than a line of the document has a line for each member.
    ...['pinned:', '{', 'writeOnly: true,', "type: [boolean, 'null'],"],
    ...["description: 'Whether the dashboard is pinned to the top of the project.'", '}'],
    "a: { type: [integer, 'null']",
    "b: { type: [string, 'null']",
  ]);
  const answers = answersOf(patched(patch));
  expect(reads.flatMap((read) => differencesOf(read, answers))).toEqual([]);
});

function dashboard(changes: JsonObject = {}): Read {
  return {
    operation: operations.getDashboard,
    target: '/api/projects/1/dashboards/2/',
    body: rows.dashboard(2, changes),
  };
}

function plugin(changes: JsonObject): Read {
  const target = `/api/organizations/${organization}/plugins/1/`;
  return { operation: operations.getPlugin, target, body: rows.plugin(1, changes) };
}

function without({ body, ...read }: Read, column: string): Read {
  const columns = Object.entries(isObject(body) ? body : {}).filter(([name]) => name !== column);
  return { ...read, body: Object.fromEntries(columns) };
}

function page(...results: readonly JsonObject[]): JsonObject {
  return { count: results.length, next: null, previous: null, results };
}

/** A client that asks as simply as it goes. */
function plainClient(url: string, apiKey: string): RestClient {
  const headers = { authorization: `Bearer ${apiKey}` };
  const read = async (_operation: unknown, target: string): Promise<unknown> =>
    (await fetch(url + target, { headers })).json();
  return { read, write: () => Promise.resolve() };
}

async function left(url: string, apiKey: string, document: string): Promise<readonly unknown[]> {
  const reads = await readAll(() => plainClient(url, apiKey));
  const answers = answersOf(document);
  return reads.flatMap((read) => ('body' in read ? differencesOf(read, answers) : []));
}
