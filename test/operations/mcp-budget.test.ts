import { describe, expect, test } from 'vitest';
import { callTool, sentencesOf, startAgents } from '../support/agents.ts';
import { startOver } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { type Routes } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const documents = 'query Project($id: ID!) { project(id: $id) { name } }';

const routes: Routes = { 'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])) };

describe('Agents beyond their share of the budget', () => {
  test('are refused without a call, while people go on', async () => {
    const budget = budgetOf({ rest: '10/60' }, { agentShare: 50 });
    const { upstream, gateway } = await startOver(routes, (api) => startAgents(api, documents, { budget }));
    for (let id = 1; id <= 5; id += 1) {
      const result = await callTool(gateway, 'Project', { id: `${id}` });
      expect(result).toMatchObject({
        _meta: { restCalls: { actual: 1, budget: [{ surface: 'rest', remaining: 5 - id }] } },
      });
    }
    const refused = await callTool(gateway, 'Project', { id: '6' });
    expect(refused).toMatchObject({ isError: true, _meta: { restCalls: { actual: 0 } } });
    expect(sentencesOf(refused)).toMatch(/Try again in \d+ seconds\.$/);
    expect(upstream.requests).toHaveLength(5);
    for (let id = 6; id <= 10; id += 1)
      expect(await gateway.ask(`{ project(id: ${id}) { name } }`)).not.toHaveProperty('errors');
    expect((await gateway.ask('{ project(id: 11) { name } }')).errors).toHaveLength(1);
  });

  test.skipIf(!hasRedis)('are so over all gateways that share a Redis', async () => {
    await using upstream = await startUpstream(routes);
    await using redis = await startRedis();
    const budget = budgetOf({ rest: '10/60' }, { agentShare: 50 });
    const persisted = { redisUrl: redis.url };
    await using one = await startAgents(upstream, documents, { budget, persisted });
    await using other = await startAgents(upstream, documents, { budget, persisted });
    for (const gateway of [one, other]) {
      // A key is counted in Redis once it is proven here, which its first call does.
      await gateway.ask('{ project(id: 1) { name } }');
    }
    for (const gateway of [one, other, one, other, one])
      expect(await callTool(gateway, 'Project', { id: '2' })).not.toHaveProperty('isError');
    for (const gateway of [one, other])
      expect(await callTool(gateway, 'Project', { id: '2' })).toMatchObject({
        isError: true,
        _meta: { restCalls: { actual: 0 } },
      });
    expect(upstream.requests).toHaveLength(7);
  });
});
