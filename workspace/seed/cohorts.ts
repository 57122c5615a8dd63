import type { Store } from '../store.ts';
import type { SeedProject } from './projects.ts';

/** The cohorts of each project: their names, and the property filters that their persons pass. */
const cohorts = [
  { name: 'On a paid plan', filters: [{ key: 'plan', type: 'person', value: ['plus', 'business'] }] },
  { name: 'In Germany', filters: [{ key: 'country', type: 'person', value: 'DE' }] },
];

/** Stores two cohorts of a project: those of project 1 have the ids 1 and 2, and so on. */
export function seedCohorts(store: Store, project: SeedProject): void {
  for (const cohort of cohorts) store.cohorts.insert(project.id, cohort);
}
