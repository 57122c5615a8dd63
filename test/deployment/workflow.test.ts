import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isObject } from '../../src/rest/values.ts';
import { runShell } from '../support/process.ts';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'examples/github/graphql.yaml'), 'utf8');

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workflow-'));
  await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  await git('init', '--quiet');
  await git('add', 'schema.graphql');
  await git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'The schema');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function git(...args: string[]): Promise<unknown> {
  return promisify(execFile)('git', args, { cwd: folder });
}

test('the workflow reads the repository only, and pull requests are what starts it', () => {
  expect(parse(text)).toMatchObject({ on: 'pull_request', permissions: { contents: 'read' } });
});

test('the commands of the workflow pass for the schema and the operations that are committed', async () => {
  const environment = {
    ...environmentOf(parse(text)),
    GIT_DIR: join(folder, '.git'),
    BASE: 'HEAD',
    RUNNER_TEMP: folder,
  };
  const lines = commandsOf(parse(text)).filter((command) => !command.startsWith('npm ci'));
  expect(lines).toHaveLength(2);
  await using running = runShell(`set -e\n${lines.join('\n')}`, environment, '.');
  const exitCode = await running.exit();
  expect(running.output()).toMatch(/^\d+ operations: 0 invalid, 0 over budget$/m);
  expect(running.output()).toMatch(/^0 changes: 0 breaking, 0 of them used by \d+ documents$/m);
  expect(exitCode).toBe(0);
});

function environmentOf(workflow: unknown): Record<string, string> {
  const environment = isObject(workflow) ? workflow['env'] : undefined;
  return Object.fromEntries(Object.entries(isObject(environment) ? environment : {}).map(([k, v]) => [k, String(v)]));
}

function commandsOf(workflow: unknown): readonly string[] {
  const jobs = isObject(workflow) ? workflow['jobs'] : undefined;
  const steps = Object.values(isObject(jobs) ? jobs : {}).flatMap((job) => (isObject(job) ? job['steps'] : []));
  return steps.flatMap((step) => (isObject(step) && typeof step['run'] === 'string' ? step['run'] : []));
}
