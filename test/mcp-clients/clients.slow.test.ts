/** Official programs that speak the Model Context Protocol, as they are installed: both generations of clients and the inspector. */
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mcpUrlOf, startAgents } from '../support/agents.ts';
import { runScript } from '../support/process.ts';
import { startClient } from '../workspace/client.ts';

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());

const folder = started.use(mkdtempDisposableSync(join(tmpdir(), 'mcp-clients-')));
const documents = readFileSync(join(import.meta.dirname, '../../examples/agents/tools.graphql'), 'utf8');
const upstream = started.use(await startClient());
const gateway = started.use(await startAgents(upstream, documents, { tools: ['*', 'PinDashboard'] }));
const url = mcpUrlOf(gateway);

const tools = ['ListDashboards', 'ListProjects', 'PinDashboard', 'RecentEvents'];
const tooMany = 'Expected `first` to be a whole number or null from 0 to 100, but got 500.';
const unknownTool: unknown = expect.stringContaining('Unknown tool: NoSuchTool');

/** Runs a script of this package. Returns its exit code, and the JSON that it has printed. */
async function run(script: string, ...args: readonly string[]): Promise<[code: number | null, printed: unknown]> {
  await using running = runScript('test/mcp-clients', script, { HOME: folder.path }, args);
  const code = await running.exit();
  const output = running.output();
  const [json] = /^\{(?:.+\}$|\n[^]*?\n\})/m.exec(output) ?? [];
  if (json === undefined) throw new Error(`expected JSON, but it printed ${output}`);
  return [code, JSON.parse(json)];
}

test.each([
  ['sdk', '2025-11-25'],
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  ['2026-07-28', '2026-07-28'],
])('the client %s lists and calls tools, in the edition %s', async (how, edition) => {
  const [code, printed] = await run('agent', url, how);
  const one = { restCalls: { actual: 1, cached: 0 } };
  expect(printed).toMatchObject({
    edition,
    tools,
    projects: { structuredContent: { projects: { nodes: [{ name: 'Booking website' }] } }, _meta: one },
    dashboards: { structuredContent: { project: { name: 'Booking website' } } },
    change: { structuredContent: { updateDashboard: { dashboard: { pinned: true } } } },
    wrong: { isError: true, content: [{ type: 'text', text: tooMany }] },
    unknown: { code: -32602, message: unknownTool },
  });
  expect(code).toBe(0);
});

test('the inspector lists tools, and finds no error in their schemas', async () => {
  const [code, printed] = await run('inspect', url, '--transport', 'http', '--method', 'tools/list', '--strict');
  expect(printed).toMatchObject({ tools: tools.map((name) => ({ name })) });
  expect(code).toBe(0);
});

test('the inspector calls a tool, and tells a wrong argument by its exit code', async () => {
  const call = [url, '--transport', 'http', '--header', 'Authorization: Bearer phx_demo_fernweh_travel'];
  const tool = ['--method', 'tools/call', '--tool-name', 'ListProjects', '--tool-arg'];
  const done = await run('inspect', ...call, ...tool, 'first=1');
  expect(done).toMatchObject([0, { structuredContent: { projects: { nodes: [{ name: 'Booking website' }] } } }]);
  const [code] = await run('inspect', ...call, ...tool, 'first=500');
  expect(code).toBe(5);
});
