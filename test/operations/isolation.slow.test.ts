import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { inForm, measured } from '../support/form.ts';
import { type Answer, type Request, startGateway } from '../support/gateway.ts';
import { as, together } from '../support/load.ts';
import type { Handler } from '../support/routes.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Fifty keys, among them some that differ in case or by a suffix only. */
const keys = Array.from({ length: 25 }, (_, index) => [
  `phx_key${index}`,
  index % 2 === 0 ? `phx_KEY${index}` : `phx_key${index}x`,
]).flat();

const operations = inForm(600, 20_000);

/** An upstream whose every text is the key that asked. */
async function startMirror(): Promise<Upstream> {
  const answer: Handler = async ({ path, headers }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    const name = headers.authorization ?? '';
    if (!path.includes('dashboards')) return project(1, { name });
    return { count: 2, next: null, previous: null, results: [1, 2].map((id) => listedDashboard(id, { name })) };
  };
  const upstream = await startUpstream(answer);
  upstream.release();
  return upstream;
}

/** The texts of an answer that another key's call answered. */
function foreign({ body }: Answer, key: string): readonly string[] {
  const texts = body.match(/Bearer [^"]*/g) ?? ['no text'];
  return texts.filter((text) => text !== `Bearer ${key}`);
}

type Question = readonly [query: string, request?: Request];

function read(id: number): string {
  return `{ project(id: ${id}) { name dashboards(first: 2) { nodes { name } } } }`;
}

const write = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }';

/** A document that the first key registers, and all keys ask for with its hash. */
const registered = 'query Registered { project(id: 1) { name } }';
const persistedQuery = { version: 1, sha256Hash: createHash('sha256').update(registered).digest('hex') };

const questions: [name: string, ask: (index: number) => Question][] = [
  ['equal queries, which share calls', () => [read(1)]],
  ['different queries, which share none', (index) => [read(index + 1)]],
  [
    'equal queries, some with their hash, beside writes, which end the sharing',
    (index) => {
      if (index % 5 === 0) return [write];
      return index % 3 === 0 ? [registered, { extensions: { persistedQuery } }] : [read(1)];
    },
  ],
];

test.each(questions)(
  'no answer holds what another key was answered: many operations of 50 keys with %s',
  { timeout: 600_000 },
  async (name, question) => {
    await using upstream = await startMirror();
    await using gateway = await startGateway(upstream, { upstreamConnections: 512, operationDeadlineMs: 60_000 });
    const failures = await together(operations, 200, async (index) => {
      const key = keys[(index * 7) % keys.length] ?? '';
      const [query, request] = question(index);
      const answer = await gateway.ask(query, { ...request, ...as(key) });
      return answer.errors === undefined ? foreign(answer, key) : [answer.body];
    });
    const foreignAnswers = failures.flat();
    measured(`isolation of ${name}`, { operations, calls: upstream.requests.length, foreignAnswers });
    expect(foreignAnswers).toEqual([]);
    expect(upstream.requests.length).toBeLessThanOrEqual(2 * operations);
    const metrics = await gateway.gateway.metrics.render();
    for (const key of keys) expect(metrics).not.toContain(key);
  },
);
