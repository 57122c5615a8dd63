import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { blocksOf, chapterOf, pages, textOf } from '../support/documentation.ts';
import { DocumentationReader, demoKey } from '../support/documentation-reader.ts';
import { startGateway } from '../support/gateway.ts';

let workspace: Workspace;

beforeAll(async () => {
  workspace = await startWorkspace({ port: 0, host: '127.0.0.1' });
});
afterAll(() => workspace.close());

const examples = new Map(
  pages.map((page) => [page, blocksOf(page).filter(({ language }) => ['sh', 'console', 'graphql'].includes(language))]),
);

/** The log of the gateway if the sentences beside the examples are true. */
const said = new Map([['README.md', /"calls":3\b[\s\S]*"operationName":"Create".*"calls":1\b/]]);

const pagesToRun = pages.filter((page) => examples.get(page)?.some(({ mark }) => mark === undefined));

test('the pages that have examples are among those that are run', () => {
  expect(pagesToRun).toEqual(expect.arrayContaining(['README.md', 'docs/monitoring.md', 'docs/rest-economy.md']));
});

describe.each(pagesToRun)('%s', (page) => {
  test('does, from top to bottom, what stands there', async () => {
    await using reader = new DocumentationReader(workspace.url);
    for (const block of examples.get(page)?.filter(({ mark }) => mark === undefined) ?? []) {
      const { found, expected } = await reader.follow(block);
      expect({ example: block.text, outcome: found }).toEqual({ example: block.text, outcome: expected });
    }
    expect(await reader.said()).toMatch(said.get(page) ?? '');
  });
});

test('an example is left out only with a reason, or with the name of the test that runs it', () => {
  const marks = [...examples.values()].flat().flatMap(({ mark }) => mark ?? []);
  expect(marks.length).toBeGreaterThan(3);
  for (const mark of marks) expect(mark).toMatch(/^(?:not run: \S.{10,}|run by test\/\S+\.test\.ts)$/);
  const tests = marks.flatMap((mark) => /^run by (\S+)$/.exec(mark)?.slice(1) ?? []);
  expect(tests.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
});

test('the examples of what saves a REST call make as many as stands there', async () => {
  await using gateway = await startGateway(workspace);
  const chapter = chapterOf('docs/rest-economy.md', '## What saves a call');
  const rows = [...chapter.matchAll(/ \| `(\{.*\})` \| (\d+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(4);
  for (const [, query = '', calls] of rows) {
    const { errors, extensions } = await gateway.ask(query, { headers: demoKey, extensions: { cost: true } });
    expect({ query, errors, ...extensions }).toMatchObject({ query, cost: { actual: Number(calls) } });
    expect(errors).toBeUndefined();
  }
});

test('the script that starts the gateway is what the examples are run with', () => {
  expect(textOf('package.json')).toContain('"start": "node --max-semi-space-size=16 start.js"');
});
