import { beforeEach, describe, expect, test } from 'vitest';
import { startBothCaching } from '../support/cache.ts';
import { globalId } from '../support/current.ts';
import { listOf } from '../support/lists.ts';
import type { UpstreamRequest } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';

const current = 'GET /api/projects/@current/';
const name = '{ project(id: "@current") { name } }';

describe("after the key's user has opened another project", () => {
  let open = 7;
  const routes = {
    [current]: () => project(open),
    'GET /api/projects/@current/dashboards/': (request: UpstreamRequest) =>
      listOf([listedDashboard(10 * open)])(request),
    'POST /api/projects/:id/dashboards/': dashboard(5),
  };

  beforeEach(() => {
    open = 7;
  });

  test('a write below @current goes to that one, whatever was read before', async () => {
    const { upstream, gateway } = await startBothCaching(routes);
    await gateway.ask(name);
    open = 8;
    const made = await gateway.ask(
      'mutation { createDashboard(input: { projectId: "@current", name: "x" }) { dashboard { id } } }',
    );
    expect(made.data).toEqual({ createDashboard: { dashboard: { id: globalId('Dashboard:8:5') } } });
    expect(upstream.requests).toEqual([current, current, 'POST /api/projects/8/dashboards/']);
  });

  test('ids of what lies below @current name the project that it lies in', async () => {
    const { gateway } = await startBothCaching(routes);
    const ids = '{ project(id: "@current") { dashboards(first: 1) { nodes { id } } } }';
    for (const next of [7, 8]) {
      open = next;
      expect((await gateway.ask(ids)).data).toEqual({
        project: { dashboards: { nodes: [{ id: globalId(`Dashboard:${next}:${10 * next}`) }] } },
      });
      // Were both kept, the list would be read anew before the project is.
      gateway.pass(40);
    }
  });
});
