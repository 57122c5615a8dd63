import { insightTile, textTile } from '../dashboards/templates.ts';
import { newDashboard } from '../dashboards/views.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';
import { daysBeforeEnd } from './clock.ts';
import type { SeedProject } from './projects.ts';
import { cycle } from './random.ts';

/** The number of dashboards in each project. */
export const dashboardsPerProject = 10;

const names: Readonly<Record<SeedProject['business'], readonly [string, ...string[]]>> = {
  travel: [
    'Weekly growth',
    'Booking funnel',
    'Search quality',
    'Activation of new travellers',
    'Retention by cohort',
    'Summer campaign',
    'Hotel pages',
    'Payments and refunds',
    'Release health',
    'Board meeting',
  ],
  bank: [
    'Daily operations',
    'Onboarding and identity checks',
    'Transfers',
    'Card usage',
    'Login problems',
    'Savings launch',
    'Support load',
    'Accessibility',
    'Fraud signals',
    'Quarterly review',
  ],
};

const tags: readonly [readonly string[], ...(readonly string[])[]] = [
  ['growth'],
  [],
  ['product', 'weekly'],
  ['mobile'],
  [],
];

const questions: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['Active users', '$pageview'],
  ['Searches', 'search performed'],
  ['Sign-ups', 'signed up'],
  ['Clicks by element', '$autocapture'],
  ['Sessions by country', '$pageview'],
  ['Conversion by device', '$identify'],
];

/** Stores the dashboards of a project, each with three to six tiles. */
export function seedDashboards({ dashboards, tiles }: Store, project: SeedProject): void {
  for (let index = 0; index < dashboardsPerProject; index += 1) {
    const id = dashboards.insert(project.id, toDashboard(project, index));
    for (const tile of tilesOf(project, index)) tiles.insert(id, tile);
  }
}

function toDashboard({ business, organization, id }: SeedProject, index: number): JsonObject {
  const name = cycle(names[business], index);
  const serial = (id - 1) * dashboardsPerProject + index;
  const mode = cycle(['default', 'default', 'template', 'duplicate'] as const, index);
  const origin = {
    created_at: daysBeforeEnd(12.3217 + serial * 3.137),
    // Now and then the colleague is gone.
    created_by: serial % 15 === 14 ? null : cycle(organization.members, index).profile,
    creation_mode: mode,
  };
  return {
    ...newDashboard(origin, {
      name,
      description: `${name}: what changed, and what to do about it.`,
      pinned: index < 2,
      tags: cycle(tags, index),
      filters: index % 3 === 0 ? { date_from: '-30d' } : {},
      use_template: mode === 'template' ? 'DEFAULT_APP' : '',
      // The one before it.
      use_dashboard: mode === 'duplicate' ? (id - 1) * dashboardsPerProject + index : null,
      restriction_level: index % 8 === 7 ? 37 : 21,
    }),
    is_shared: serial % 9 === 4,
  };
}

function tilesOf({ name }: SeedProject, index: number): JsonObject[] {
  const insights = Array.from({ length: 3 + (index % 3) }, (_, position) => {
    const [question, event] = cycle(questions, index + position);
    return insightTile(question, event, position);
  });
  return index % 2 === 0
    ? insights
    : [...insights, textTile(`Numbers of the ${name}. Ask Analytics first.`, insights.length)];
}
