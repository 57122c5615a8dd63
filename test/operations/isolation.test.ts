import { expect, test } from 'vitest';
import { inForm, measured } from '../support/form.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { as, together } from '../support/load.ts';
import type { Handler } from '../support/routes.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Fifty keys, among them some that differ in case or by a suffix only. */
const keys = Array.from({ length: 25 }, (_, index) => [
  `phx_key${index}`,
  index % 2 === 0 ? `phx_KEY${index}` : `phx_key${index}x`,
]).flat();

const operations = inForm(4000, 20_000);

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

test.each([
  ['equal queries, which share calls', (_index: number) => 1],
  ['different queries, which share none', (index: number) => index + 1],
])(
  'no answer holds what another key was answered: thousands of operations of 50 keys with %s',
  { timeout: 600_000 },
  async (_name, idOf) => {
    await using upstream = await startMirror();
    await using gateway = await startGateway(upstream, { upstreamConnections: 512, operationDeadlineMs: 60_000 });
    const failures = await together(operations, 200, async (index) => {
      const key = keys[(index * 7) % keys.length] ?? '';
      const query = `{ project(id: ${idOf(index)}) { name dashboards(first: 2) { nodes { name } } } }`;
      const answer = await gateway.ask(query, as(key));
      return answer.errors === undefined ? foreign(answer, key) : [answer.body];
    });
    const foreignAnswers = failures.flat();
    measured('isolation', { operations, keys: keys.length, calls: upstream.requests.length, foreignAnswers });
    expect(foreignAnswers).toEqual([]);
    expect(upstream.requests.length).toBeLessThanOrEqual(2 * operations);
  },
);
