/** The protocol's own conformance suite, every scenario for servers of both editions. */
import { mkdtempDisposableSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mcpUrlOf, startAgents } from '../support/agents.ts';
import { runScript } from '../support/process.ts';

/** The result of the suite for one scenario. */
interface Scenario {
  readonly name: string;
  readonly failed: readonly string[];
}

/**
 * The scenarios that do not apply, by the reason. Of those that apply in part, these are the checks that do not, as
 * `scenario/check`. One that passes must not be here.
 */
const notApplicable: Readonly<Record<string, readonly string[]>> = {
  'The gateway has no prompts.': [
    'caching/sep-2549-prompts-list-caching-hints',
    'input-required-result-non-tool-request',
    'prompts-get-embedded-resource',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-with-image',
    'prompts-list',
  ],
  'The gateway has no resources.': [
    'caching/sep-2549-resources-list-caching-hints',
    'caching/sep-2549-resources-templates-list-caching-hints',
    'resources-list',
    'resources-read-binary',
    'resources-read-text',
    'resources-subscribe',
    'resources-templates-read',
    'resources-unsubscribe',
  ],
  'The gateway completes no arguments of prompts and resources.': ['completion-complete'],
  'It wants a tool of its own that answers what no document answers: images, sound, progress, logs or a failure.': [
    'server-stateless/sep-2575-server-no-log-without-loglevel',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-error',
    'tools-call-image',
    'tools-call-mixed-content',
    'tools-call-simple-text',
    'tools-call-with-logging',
    'tools-call-with-progress',
  ],
  'It wants a tool of its own with certain keywords in its schema.': ['json-schema-2020-12'],
  'It wants a tool of its own that asks the client back: for input, for a sample of its model, or for its roots.': [
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-list-roots',
    'input-required-result-basic-sampling',
    'input-required-result-capability-check',
    'input-required-result-multi-round',
    'input-required-result-multiple-input-requests',
    'input-required-result-request-state',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'server-stateless/sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless/sep-2575-missing-capability-http-400',
    'server-stateless/sep-2575-server-rejects-undeclared-capability',
    'tools-call-elicitation',
    'tools-call-sampling',
  ],
  'No tool has arguments that a client sends as headers.': ['http-custom-header-server-validation'],
};

/** The scenarios of which a part applies. */
const inPart: ReadonlySet<string> = new Set(
  Object.values(notApplicable).flatMap((all) => all.flatMap((one) => (one.includes('/') ? [scenarioOf(one)] : []))),
);

/** The scenario of a scenario or a check of it. */
function scenarioOf(listed: string): string {
  return listed.split('/', 1)[0] ?? '';
}

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());

const documents = readFileSync(join(import.meta.dirname, '../../examples/agents/tools.graphql'), 'utf8');
const gateway = started.use(await startAgents({ url: 'http://127.0.0.1:1' }, documents));

/** Runs every scenario of an edition. */
async function scenariosOf(edition: string): Promise<readonly Scenario[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'mcp-conformance-'));
  const args = ['--url', mcpUrlOf(gateway), '--suite', 'all', '--spec-version', edition, '--output-dir', folder.path];
  await using running = runScript('test/mcp-clients', 'conformance', { HOME: folder.path }, args);
  await running.exit();
  const all = readdirSync(folder.path).flatMap((entry): Scenario[] => {
    const [, name] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(entry) ?? [];
    return name === undefined ? [] : [{ name, failed: failuresIn(join(folder.path, entry, 'checks.json')) }];
  });
  // One that broke off has written nothing.
  const summed = [...running.output().matchAll(/^[✓✗] ([\w-]+): /gm)].map(([, name = '']) => name);
  expect(all.map(({ name }) => name).toSorted()).toEqual(summed.toSorted());
  return all;
}

function failuresIn(file: string): readonly string[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- so the suite writes it
  const checks = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly id: string; readonly status: string }[];
  return checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id);
}

function failedIn(scenarios: readonly Scenario[]): readonly string[] {
  const all = scenarios.flatMap(({ name, failed }) => {
    if (failed.length === 0) return [];
    return inPart.has(name) ? failed.map((check) => `${name}/${check}`) : [name];
  });
  return all.toSorted();
}

const run = new Map([
  ['2025-11-25', await scenariosOf('2025-11-25')],
  ['2026-07-28', await scenariosOf('2026-07-28')],
]);

test('each scenario that is listed was run', () => {
  const names = new Set([...run.values()].flat().map(({ name }) => name));
  const listed = Object.values(notApplicable).flat().map(scenarioOf);
  expect(listed.filter((name) => !names.has(name))).toEqual([]);
});

test.each([
  [
    '2026-07-28',
    [
      'dns-rebinding-protection',
      'http-header-validation',
      'input-required-result-ignore-extra-params',
      'input-required-result-missing-input-response',
      'input-required-result-unsupported-methods',
      'input-required-result-validate-input',
      'sep-2164-resource-not-found',
      'server-sse-multiple-streams',
      'tools-list',
    ],
    ['caching', 'server-stateless'],
  ],
  [
    '2025-11-25',
    [
      'dns-rebinding-protection',
      'logging-set-level',
      'ping',
      'server-initialize',
      'server-session-lifecycle',
      'server-sse-multiple-streams',
      'server-sse-polling',
      'tools-list',
    ],
    [],
  ],
])('of the edition %s all scenarios that apply pass', (edition, passed, passedInPart) => {
  const scenarios = run.get(edition) ?? [];
  const names = new Set(scenarios.map(({ name }) => name));
  const listed = Object.values(notApplicable)
    .flat()
    .filter((one) => names.has(scenarioOf(one)));
  expect(failedIn(scenarios)).toEqual(listed.toSorted());
  expect(scenarios.flatMap(({ name, failed }) => (failed.length === 0 ? [name] : [])).toSorted()).toEqual(passed);
  expect([...names].filter((name) => inPart.has(name)).toSorted()).toEqual(passedInPart);
});
