import { integerIn, transact } from './database.ts';
import { seedEnd } from './seed/clock.ts';
import { eventWriter } from './seed/event-writer.ts';
import { personsOf } from './seed/persons.ts';
import { type SeedProject, seedProjects } from './seed/projects.ts';
import { createRandom, uuidOf } from './seed/random.ts';
import type { Store } from './store.ts';

/** The number of captured events that a project keeps; now and then older ones are deleted. */
export const keptEvents = 2000;

/** Has each example project capture so many events a minute, at equal distances, until the returned function is called. */
export function startCapturing(store: Store, perMinute: number): () => void {
  if (perMinute === 0) return () => undefined;
  const timer = setInterval(createCapture(store), 60_000 / perMinute);
  return () => clearInterval(timer);
}

/**
 * One step of capturing: usually one event for each example project. What happens is the same after every start, but for
 * ids and times. `now` is the time in milliseconds since 1970. If that is behind the newest event that is stored, time goes
 * on from there: what is captured is always new.
 */
export function createCapture(store: Store, now: () => number = Date.now): () => void {
  const ahead = Math.max(0, newestOf(store) + 1000 - now() * 1000);
  const captures = seedProjects.map((project) => captureOf(store, project));
  let steps = 0;
  return () => {
    const time = now() * 1000 + ahead;
    steps += 1;
    transact(store.database, () => {
      for (const capture of captures) capture(time, eventsOf(steps));
    });
  };
}

/** Of ten steps, one captures two events, which have the same time, and the next one none. */
function eventsOf(step: number): number {
  return [0, ...Array.from({ length: 8 }, () => 1), 2][step % 10] ?? 1;
}

/** When the newest event happened, in microseconds since 1970. */
function newestOf({ database }: Store): number {
  const row = database.prepare('SELECT max(timestamp) AS newest FROM events').get();
  return typeof row?.['newest'] === 'number' ? Math.max(integerIn(row, 'newest'), seedEnd) : seedEnd;
}

function captureOf(store: Store, project: SeedProject): (time: number, count: number) => void {
  const random = createRandom(project.id + seedProjects.length);
  const write = eventWriter(store, project, personsOf(project), random);
  const prune = store.database.prepare(`
    DELETE FROM events WHERE project_id = :project AND timestamp > :seedEnd AND timestamp < (
      SELECT timestamp FROM events WHERE project_id = :project ORDER BY timestamp DESC LIMIT 1 OFFSET :kept
    )`);
  return (time, count) => {
    // It may have been deleted.
    if (store.projects.find(project.organization.id, project.id) === undefined) return;
    const moment = time + Math.floor(random() * 1000);
    for (let index = 0; index < count; index += 1)
      write(uuidOf(`captured ${project.id}/${moment}/${index}`), () => moment);
    if (count === 0) prune.run({ project: project.id, seedEnd, kept: keptEvents - 1 });
  };
}
