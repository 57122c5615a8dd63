import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClientSchema, type IntrospectionQuery, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandIn, loadCommand } from '../../src/commands/commands.ts';
import { ConfigError } from '../../src/config-error.ts';
import { createReader } from '../../src/settings/config.ts';
import { runMain } from '../support/process.ts';

const overview = `query Overview($n: Int = 2) {
  projects(first: $n) { nodes { name dashboards(first: 3) { totalCount nodes { name tiles } } } }
}
`;
const expensive = '{ projects { nodes { dashboards(first: 100) { nodes { tiles } } } } }';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'commands-'));
  const manifest = {
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: [
      { id: 'one', name: 'One', type: 'query', body: 'query One($id: ID!) { project(id: $id) { name } }' },
      { id: 'bad', name: 'Bad', type: 'query', body: 'query Bad { project(id: 1) { nope } }' },
    ],
  };
  const files: Record<string, string> = {
    'overview.graphql': overview,
    'expensive.graphql': expensive,
    'two.graphql': 'query A { __typename } query B { project(id: 1) { name } }',
    'mixed.graphql': 'query Good { project(id: 1) { name } }\nquery Wrong { project(id: 1) { nope } }\n',
    'variables.json': '{ "n": 4 }',
    'needs.graphql': 'query($n: Int!) { projects(first: $n) { totalCount } }',
    'empty.json': '{}',
    'no-pairs.json': '[]',
    'apollo.json': JSON.stringify(manifest),
    'relay.json': JSON.stringify({
      r1: 'query Relay($n: Int) { projects(first: $n) { nodes { dashboards(first: 2) { nodes { name } } } } }',
    }),
    'pairs.json': JSON.stringify([
      ['p1', 'mutation Pair($input: UpdateDashboardInput!) { updateDashboard(input: $input) { dashboard { name } } }'],
    ]),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The output of a command, with the folder left out, and its exit code. It runs in the process of the tests. */
async function run(...words: string[]): Promise<readonly [text: string, code: number]> {
  const { name, rest } = commandIn(words);
  const command = await loadCommand(name);
  if (command === undefined) throw new Error(`expected a command, but got ${name}`);
  const args = rest.map((arg) => (/\.\w+$/.test(arg) ? join(folder, arg) : arg));
  try {
    const { text, exitCode } = await command(args, createReader({}), () => undefined);
    return [`${text}\n`.replaceAll(`${folder}/`, ''), exitCode];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [`error: ${error.message}\n`.replaceAll(`${folder}/`, ''), 2];
  }
}

describe('start.js, which the scripts of the package run', () => {
  const startFile = fileURLToPath(new URL('../../start.js', import.meta.url));

  test('says in one line that this Node is too old for TypeScript', async () => {
    const old = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.11.0'}})";
    const running = promisify(execFile)(process.execPath, ['--import', `data:text/javascript,${old}`, startFile]);
    await expect(running).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: expected Node 24\.12 or newer, but this is 20\.11\.0\. .*npm start.*\n$/,
      ) as unknown,
    });
  });

  test('runs the commands', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [startFile, 'explain', '--help']);
    expect(stdout).toMatch(/^Usage: npm run -s explain -- FILE /);
    await expect(promisify(execFile)(process.execPath, [startFile, 'explain'])).rejects.toMatchObject({
      code: 2,
      stderr: 'error: explain: expected one file, a GraphQL document\n',
    });
  });
});

describe('explain', () => {
  test('prints the calls as a table, the sums and what makes it expensive', async () => {
    const [text, code] = await run('explain', 'overview.graphql', '--variables', 'variables.json');
    expect(text).toBe(`wave  calls  method  path                                         for
   1      1  GET     /api/projects/                               projects
   2    0–4  GET     /api/projects/{project_id}/dashboards/       projects.nodes.dashboards
   3   0–12  GET     /api/projects/{project_id}/dashboards/{id}/  projects.nodes.dashboards.nodes

1–17 calls, 3 waves, at most 28 rows and 21 objects
hint: \`tiles\` of projects.nodes.dashboards.nodes is in the detail view only: up to 12 calls
hint: put \`@defer\` on what projects.nodes.dashboards.nodes needs in wave 3, and a first part is sent after wave 2
`);
    expect(code).toBe(0);
  });

  test('explains an operation over the limits as any other, and names them', async () => {
    const [text, code] = await run('explain', 'expensive.graphql');
    expect(code).toBe(0);
    expect(text).toMatch(
      /^1–5051 calls, 3 waves, at most 10050 rows and 5101 objects\nover the limit of 150 calls\nover the limit of 10000 rows\n/m,
    );
  });

  test('prints JSON, of the operation that is named', async () => {
    const [text, code] = await run('explain', 'two.graphql', '--operation', 'B', '--json');
    expect(JSON.parse(text)).toMatchObject({ lower: 1, upper: 1, waves: 1, calls: [{ operation: 'getProject' }] });
    expect(code).toBe(0);
  });

  test('prints the tool that the operation is, and what makes it a poor one', async () => {
    const [text, code] = await run('explain', 'two.graphql', '--operation', 'B', '--mcp');
    expect(JSON.parse(text)).toMatchObject({
      tool: { name: 'B', annotations: { readOnlyHint: true }, _meta: { restCalls: { lower: 1, upper: 1, waves: 1 } } },
      hints: ['it has no description of its own'],
    });
    expect(code).toBe(0);
  });

  test('says what is wrong', async () => {
    const wrong = [
      [['explain'], 'error: explain: expected one file, a GraphQL document\n', 2],
      [
        ['explain', 'examples/operations'],
        'error: explain: expected one file, a GraphQL document, but got 3; check-operations takes several\n',
        2,
      ],
      [
        ['explain', 'none.graphql'],
        'error: none.graphql: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none\n',
        2,
      ],
      [
        ['explain', 'two.graphql'],
        'error: --operation: expected the name of an operation of the document, which has A, B, because there is not exactly one\n',
        2,
      ],
      [
        ['explain', 'two.graphql', '--operation', 'C'],
        'error: --operation: expected the name of an operation of the document, which has A, B, but got C\n',
        2,
      ],
      [
        ['explain', 'overview.graphql', '--variables', 'overview.graphql'],
        'error: overview.graphql: expected a JSON object, the variables\n',
        2,
      ],
      [
        ['explain', 'needs.graphql'],
        '1:7 Variable "$n" has invalid value: Expected a value of non-null type "Int!" to be provided.\n--variables FILE: expected a JSON object with their values\n',
        1,
      ],
      [['explain', 'apollo.json'], 'apollo.json:1:2 Syntax Error: Expected Name, found String "format".\n', 1],
    ] as const;
    const said = await Promise.all(wrong.map(([args]) => run(...args)));
    expect(said).toEqual(wrong.map(([, text, code]) => [text, code]));
  });
});

describe('schema', () => {
  const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');

  test('prints the committed SDL', async () => {
    const [text, code] = await run('schema');
    expect(text).toBe(committed);
    expect(code).toBe(0);
  });

  test('prints the result of introspection, from which clients make the same schema', async () => {
    const [text, code] = await run('schema', '--json');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- buildClientSchema refuses anything else
    const introspection = JSON.parse(text) as IntrospectionQuery;
    expect(`${printSchema(buildClientSchema(introspection))}\n`).toBe(committed);
    expect(code).toBe(0);
  });
});

describe('check-operations', () => {
  test('judges every operation of documents and manifests, and fails if one is invalid or too expensive', async () => {
    const files = ['overview.graphql', 'expensive.graphql', 'apollo.json', 'relay.json', 'pairs.json'];
    expect(await run('check-operations', ...files)).toEqual([
      `overview.graphql
  Overview: ok, 1–9 calls, 3 waves, at most 14 rows and 11 objects
expensive.graphql
  document: over budget, 1–5051 calls, 3 waves, at most 10050 rows and 5101 objects (the limits are 150 calls, 10000 rows and 50000 objects)
apollo.json
  One: ok, 1 call, 1 wave, at most 1 row and 1 object
  Bad: invalid, 1:30 Cannot query field "nope" on type "Project". Did you mean "name"?
relay.json
  Relay: ok, 1–101 calls, 2 waves, at most 300 rows and 401 objects
pairs.json
  Pair: ok, 1 call, 1 wave, at most 1 row and 2 objects

6 operations: 1 invalid, 1 over budget
`,
      1,
    ]);
  });

  test('judges each operation of a document by itself', async () => {
    expect(await run('check-operations', 'mixed.graphql')).toEqual([
      `mixed.graphql
  Good: ok, 1 call, 1 wave, at most 1 row and 1 object
  Wrong: invalid, 2:32 Cannot query field "nope" on type "Project". Did you mean "name"?

2 operations: 1 invalid, 0 over budget
`,
      1,
    ]);
  });

  test('prints JSON for programs', async () => {
    const [text, code] = await run('check-operations', 'mixed.graphql', '--json');
    expect(JSON.parse(text)).toMatchObject({
      files: [
        {
          file: 'mixed.graphql',
          operations: [
            {
              name: 'Good',
              errors: [],
              cost: { lower: 1, upper: 1, rows: 1, waves: 1, objects: 1 },
              overBudget: false,
            },
            { name: 'Wrong', errors: [expect.stringContaining('nope')] },
          ],
        },
      ],
      operations: 2,
      invalid: 1,
      overBudget: 0,
    });
    expect(code).toBe(1);
  });

  test('says which operations are poor tools for agents, and what the tools are', async () => {
    const subscription = 'subscription Follow { eventsAdded(projectId: "1") { cursor } }';
    const tools = readFileSync(new URL('../../examples/agents/tools.graphql', import.meta.url), 'utf8');
    await writeFile(join(folder, 'tools.graphql'), `${tools}\n${subscription}`);
    const [text, code] = await run('check-operations', 'tools.graphql', '--mcp');
    expect(text.split('\n').filter((line) => /^ {2}\S*: |tool/.test(line))).toEqual([
      'tools.graphql',
      '  ListProjects: ok, 1 call, 1 wave, at most 10 rows and 12 objects',
      '  ListDashboards: ok, 2 calls, 1 wave, at most 11 rows and 13 objects',
      '  RecentEvents: ok, 1–2 calls, 1 wave, at most 21 rows and 22 objects',
      '    hint for the tool: it has no description of its own',
      '  PinDashboard: ok, 1 call, 1 wave, at most 1 row and 2 objects',
      expect.stringContaining('  Follow: ok'),
      '    no tool: expected a query or a mutation with a name',
    ]);
    expect(code).toBe(0);
    const [json] = await run('check-operations', 'tools.graphql', '--mcp', '--json');
    const [explained] = await run('explain', 'tools.graphql', '--operation', 'ListDashboards', '--mcp');
    expect(JSON.parse(json)).toHaveProperty('files.0.operations.1.mcp', JSON.parse(explained));
    expect(JSON.parse(json)).toHaveProperty('files.0.operations.4.mcp', null);
  });

  test('takes variables without a default for what costs most', async () => {
    const judged: readonly (readonly [query: string, verdict: string])[] = [
      // The largest page, also if the number of calls does not depend on it.
      [
        'query Page($n: Int) { projects(first: $n) { nodes { name } } }',
        'Page: ok, 1 call, 1 wave, at most 100 rows and 101 objects',
      ],
      // Two that exclude each other: the last rows may cost one call more.
      [
        'query Either($n: Int, $m: Int) { projects(first: $n, last: $m) { nodes { name } } }',
        'Either: ok, 1–2 calls, 2 waves, at most 200 rows and 101 objects',
      ],
      // Objects that differ from each other, and so do the lists that they are in; an empty list costs nothing.
      [
        'query Two($a: ID!, $b: ID!) { a: project(id: $a) { name } b: project(id: $b) { name } }',
        'Two: ok, 1–2 calls, 1 wave, at most 2 rows and 2 objects',
      ],
      [
        'query Apart($ids: [ID!]!) { nodes(ids: $ids) { ... on Dashboard { name project { name } } } }',
        'Apart: over budget, 0–201 calls',
      ],
      [
        `query Filtered($f: EventFilter) {
          project(id: 1) { name a: events(first: 2, filter: $f) { nodes { id } } b: events(first: 2) { nodes { id } } }
        }`,
        'Filtered: ok, 2–3 calls, 1 wave, at most 5 rows and 7 objects',
      ],
    ];
    await writeFile(join(folder, 'variables.graphql'), judged.map(([query]) => query).join('\n'));
    const [text] = await run('check-operations', 'variables.graphql');
    const verdicts = text.split('\n').slice(1, -3);
    expect(verdicts.map((verdict, at) => verdict.trim().slice(0, judged[at]?.[1].length))).toEqual(
      judged.map(([, verdict]) => verdict),
    );
  });

  test('exits with 0 if everything is within the limits, which are settings', async () => {
    expect((await run('check-operations', 'overview.graphql', 'relay.json'))[1]).toBe(0);
    await using running = runMain(['check-operations', join(folder, 'overview.graphql')], { MAX_UPSTREAM_CALLS: '8' });
    expect(await running.exit()).toBe(1);
    expect(running.output()).toContain('the limits are 8 calls');
  });

  test('takes globs and folders as PERSISTED_DOCUMENTS does', async () => {
    const listed = join(folder, 'listed');
    await mkdir(listed);
    await writeFile(join(listed, 'a.graphql'), 'query A { __typename }');
    await writeFile(join(listed, 'b.json'), '{"b": "query B { __typename }"}');
    await writeFile(join(listed, 'c.txt'), 'not asked for');
    for (const pattern of [listed, join(listed, '*.{graphql,json}')]) {
      const [text, code] = await run('check-operations', pattern);
      expect(code).toBe(0);
      expect(text.replaceAll('listed/', '').split('\n')).toEqual([
        ...['a.graphql', '  A: ok, 0 calls, 0 waves, at most 0 rows and 0 objects'],
        ...['b.json', '  B: ok, 0 calls, 0 waves, at most 0 rows and 0 objects'],
        ...['', '2 operations: 0 invalid, 0 over budget', ''],
      ]);
    }
  });

  test('says what is wrong', async () => {
    const wrong = [
      [['check-operations'], 'error: check-operations: expected files with GraphQL documents, or manifests\n'],
      [['check-operations', 'empty.json'], 'error: empty.json: expected documents, but it lists none\n'],
      [
        ['check-operations', 'overview.graphql', 'no-pairs.json'],
        'error: no-pairs.json: expected documents, but it lists none\n',
      ],
      [
        ['check-operations', 'none.json'],
        'error: none.json: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none\n',
      ],
      [
        ['check-operations', 'variables.json'],
        'error: variables.json: expected "n" to be a text, or an object with a `source`\n',
      ],
    ] as const;
    const said = await Promise.all(wrong.map(([args]) => run(...args)));
    expect(said).toEqual(wrong.map(([, text]) => [text, 2]));
  });
});
