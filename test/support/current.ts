import { expect } from 'vitest';
import { at } from './connections.ts';
import type { Answer, TestGateway } from './gateway.ts';
import { listOf } from './lists.ts';
import { planOf } from './plans.ts';
import { askThrice } from './repeat.ts';
import { dashboard, event, listedDashboard, plugin, project } from './rows.ts';
import type { Upstream } from './upstream.ts';

/** The organization of project 7, which `currentRoutes` have as `@current`, and another one. */
export const organizationId = '018f1c4e-0000-7000-8000-00000000000a';
export const otherOrganization = '018f1c4e-0000-7000-8000-00000000000b';

/** The global id that stands for `Type:scope:id`. */
export function globalId(text: string): string {
  return Buffer.from(text).toString('base64url');
}

const projects = '/api/projects/';

/** An upstream whose `@current` is project 7. */
export const currentRoutes = {
  [`GET ${projects}:id/`]: project(7, { primary_dashboard: 2 }),
  [`GET ${projects}:id/dashboards/`]: listOf([listedDashboard(2), listedDashboard(3)]),
  [`GET ${projects}:id/dashboards/:dashboard/`]: dashboard(2, { use_dashboard: 3 }),
  [`GET ${projects}:id/events/`]: { next: null, results: [event(4, { id: 'e' })] },
  [`GET ${projects}:id/events/:event/`]: event(4, { id: 'e' }),
  'GET /api/organizations/:id/plugins/': listOf([plugin(5)]),
  'GET /api/organizations/:id/plugins/:plugin/': plugin(5),
};

/** Asks three times and checks that the calls were planned. */
export async function askPlanned(gateway: TestGateway, upstream: Upstream, query: string): Promise<Answer> {
  const answer = await askThrice(gateway, upstream, query);
  const { lower, upper } = planOf(query);
  expect(upstream.requests.length).toBeGreaterThanOrEqual(lower);
  expect(upstream.requests.length).toBeLessThanOrEqual(upper);
  return answer;
}

/** The value at a path such as `project.dashboards.nodes.0.id`. */
export function dig(data: unknown, path: string): unknown {
  return at(data, ...path.split('.').map((name) => (/^\d$/.test(name) ? Number(name) : name)));
}
