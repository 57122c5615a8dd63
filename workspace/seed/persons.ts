import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';
import { daysBeforeEnd } from './clock.ts';
import type { SeedProject } from './projects.ts';
import { cycle, uuidOf } from './random.ts';

/** Someone whose events are captured. */
export interface SeedPerson {
  readonly id: number;
  readonly distinctId: string;
}

const personsPerProject = 40;

const firstNames: readonly [string, ...string[]] = [
  'Amara',
  'Bruno',
  'Chidi',
  'Dalia',
  'Elif',
  'Finn',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kofi',
];
const lastNames: readonly [string, ...string[]] = ['Okafor', 'Silva', 'Novak', 'Haddad', 'Yilmaz', 'Berg', 'Keller'];
const countries: readonly [string, ...string[]] = ['DE', 'ES', 'NG', 'IN', 'JP', 'SE'];
const plans: readonly [string, ...string[]] = ['free', 'free', 'plus', 'business'];

/** The persons of a project. */
export function personsOf(project: SeedProject): readonly SeedPerson[] {
  return Array.from({ length: personsPerProject }, (_, index) => {
    const id = (project.id - 1) * personsPerProject + index + 1;
    return { id, distinctId: distinctIdOf(id, emailOf(id)) };
  });
}

/** Stores the persons of a project. */
export function seedPersons({ database }: Store, project: SeedProject): readonly SeedPerson[] {
  const insert = database.prepare('INSERT INTO persons VALUES (?, ?, ?, ?)');
  const persons = personsOf(project);
  for (const { id, distinctId } of persons)
    insert.run(id, project.id, uuidOf(`person ${id}`), JSON.stringify(toBody(id, emailOf(id), distinctId)));
  return persons;
}

function emailOf(id: number): string {
  return `${cycle(firstNames, id)}.${cycle(lastNames, id)}${id}@mail.example`.toLowerCase();
}

function toBody(id: number, email: string, distinctId: string): JsonObject {
  return {
    is_identified: true,
    distinct_ids: [distinctId],
    properties: {
      name: `${cycle(firstNames, id)} ${cycle(lastNames, id)}`,
      email,
      plan: cycle(plans, id),
      country: cycle(countries, id),
    },
    created_at: daysBeforeEnd(31 + id * 0.71),
  };
}

/** Apps use what they have: UUIDs, addresses, account numbers with leading zeros, and numbers beyond 2^53. */
function distinctIdOf(id: number, email: string): string {
  switch (id % 4) {
    case 0:
      return uuidOf(`distinct id ${id}`);
    case 1:
      return email;
    case 2:
      return String(id).padStart(8, '0');
    default:
      return String(9_007_199_254_740_993n + BigInt(id) * 1000n);
  }
}
