import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';
import { day, seedEnd } from './clock.ts';
import { type EventKind, kindsOf } from './event-kinds.ts';
import { companyOf } from './groups.ts';
import type { SeedPerson } from './persons.ts';
import type { SeedProject } from './projects.ts';
import { choose, createRandom, type Random, uuidOf } from './random.ts';

/** How far back the events reach. */
const days = 30;

/** Stores the events of a project, oldest first, no two at the same time. */
export function seedEvents({ database }: Store, project: SeedProject, persons: readonly SeedPerson[]): void {
  const random = createRandom(project.id);
  const kinds = kindsOf(project);
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (let index = 0; index < project.events; index += 1) {
    const id = uuidOf(`event ${project.id}/${index}`);
    // One of twelve events is of a visitor who was not identified.
    const person = random() < 1 / 12 ? undefined : persons[Math.floor(random() * persons.length)];
    const { event, propertiesOf } = chooseKind(random, kinds);
    const company = project.hasCompanies && person !== undefined ? { $group_0: companyOf(person.id) } : {};
    const properties = JSON.stringify({ ...surroundings(random, project), ...propertiesOf(random), ...company });
    const clicked = event === '$autocapture' ? choose(random, buttons) : undefined;
    insert.run(
      id,
      project.id,
      person?.id ?? null,
      event,
      person?.distinctId ?? uuidOf(`visitor ${id}`),
      timeOf(random, index, project.events),
      properties,
      JSON.stringify(clicked === undefined ? [] : [toElement(clicked)]),
      clicked === undefined ? '' : `button.primary:attr__class="primary"nth-child="1"nth-of-type="1"text="${clicked}"`,
    );
  }
}

/** Each event falls into a slot of its own; every tenth on a whole second. */
function timeOf(random: Random, index: number, events: number): number {
  const slot = (days * day) / events;
  const time = Math.floor(seedEnd - days * day + (index + 0.01 + random() * 0.98) * slot);
  return index % 10 === 0 ? time - (time % 1_000_000) : time;
}

function chooseKind(random: Random, kinds: readonly EventKind[]): EventKind {
  let rest = random() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of kinds) {
    rest -= kind.weight;
    if (rest < 0) return kind;
  }
  throw new Error('expected weights that add up');
}

function surroundings(random: Random, { surface, host }: SeedProject): JsonObject {
  const country = choose(random, ['DE', 'ES', 'NG', 'IN', 'JP', 'SE']);
  if (surface === 'app') {
    return {
      $lib: 'mobile',
      $os: host.startsWith('ios') ? 'iOS' : 'Android',
      $app_version: choose(random, ['7.4.0', '7.4.1', '7.5.0']),
      $geoip_country_code: country,
    };
  }
  const path = choose(random, ['/', '/search', '/offers', '/account', '/help']);
  return {
    $lib: 'web',
    $browser: choose(random, ['Chrome', 'Firefox', 'Safari', 'Edge']),
    $os: choose(random, ['Windows', 'Mac OS X', 'Linux', 'iOS']),
    $current_url: `https://${host}${path}`,
    $pathname: path,
    $geoip_country_code: country,
  };
}

const buttons: readonly [string, ...string[]] = ['Search', 'Book now', 'Sign in', 'Show more'];

function toElement(text: string): JsonObject {
  return { tag_name: 'button', text, attr_class: ['primary'], nth_child: 1, nth_of_type: 1, order: 0 };
}
