import type { Store } from '../store.ts';
import { day, seedEnd } from './clock.ts';
import { eventWriter } from './event-writer.ts';
import type { SeedPerson } from './persons.ts';
import type { SeedProject } from './projects.ts';
import { createRandom, type Random, uuidOf } from './random.ts';

/** The number of days that the events reach back. */
const days = 30;

/** Stores the events of a project, oldest first, no two at the same time. */
export function seedEvents(store: Store, project: SeedProject, persons: readonly SeedPerson[]): void {
  const random = createRandom(project.id);
  const write = eventWriter(store, project, persons, random);
  for (let index = 0; index < project.events; index += 1)
    write(uuidOf(`event ${project.id}/${index}`), () => timeOf(random, index, project.events));
}

/** Each event falls into a slot of its own; every tenth on a whole second. */
function timeOf(random: Random, index: number, events: number): number {
  const slot = (days * day) / events;
  const time = Math.floor(seedEnd - days * day + (index + 0.01 + random() * 0.98) * slot);
  return index % 10 === 0 ? time - (time % 1_000_000) : time;
}
