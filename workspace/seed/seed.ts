import { integerIn, transact } from '../database.ts';
import type { Store } from '../store.ts';
import { seedCohorts } from './cohorts.ts';
import { dashboardsPerProject, seedDashboards } from './dashboards.ts';
import { seedEvents } from './events.ts';
import { seedGroups } from './groups.ts';
import { seedOrganizations } from './organizations.ts';
import { seedPersons } from './persons.ts';
import { seedPlugins } from './plugins.ts';
import { seedProject, seedProjects } from './projects.ts';

/** The `user_version` of a database that holds the demonstration data. */
const seeded = 2;

/**
 * Stores the demonstration data, the same every time, in a database that is new; all of it or nothing. With `lateEvents`,
 * the events of a project are stored when they are first asked for: to store all takes most of the time.
 */
export function seedOnce(store: Store, { lateEvents = false } = {}): void {
  const { database } = store;
  transact(database, () => {
    const row = database.prepare('PRAGMA user_version').get();
    const version = row === undefined ? 0 : integerIn(row, 'user_version');
    if (version === seeded) return;
    if (version !== 0)
      throw new Error("the workspace's database is of another version: remove its file, or name another");
    seedOrganizations(store);
    for (const [index, project] of seedProjects.entries()) {
      seedProject(store, project, index * dashboardsPerProject + 1);
      seedDashboards(store, project);
      const persons = seedPersons(store, project);
      const seed = (): void => seedEvents(store, project, persons);
      if (lateEvents) store.lateEvents.set(project.id, seed);
      else seed();
      seedCohorts(store, project);
      seedGroups(store, project);
    }
    seedPlugins(store);
    database.exec(`PRAGMA user_version = ${seeded}`);
  });
}
