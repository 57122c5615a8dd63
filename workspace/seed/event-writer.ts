import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';
import { type EventKind, kindsOf } from './event-kinds.ts';
import { companyOf } from './groups.ts';
import type { SeedPerson } from './persons.ts';
import type { SeedProject } from './projects.ts';
import { choose, type Random, uuidOf } from './random.ts';

/** Stores an event with this id; `timeOf` is its time in microseconds since 1970, and is asked last. */
export type WriteEvent = (id: string, timeOf: () => number) => void;

/** Stores events of a project that look like those of its business, what differs between them chosen by `random`. */
export function eventWriter(
  { database }: Store,
  project: SeedProject,
  persons: readonly SeedPerson[],
  random: Random,
): WriteEvent {
  const kinds = kindsOf(project);
  const weights = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return (id, timeOf) => {
    // One of twelve events is of a visitor who was not identified.
    const person = random() < 1 / 12 ? undefined : persons[Math.floor(random() * persons.length)];
    const { event, propertiesOf } = chooseKind(kinds, random() * weights);
    const company = project.hasCompanies && person !== undefined ? { $group_0: companyOf(person.id) } : {};
    const properties = JSON.stringify({ ...surroundings(random, project), ...propertiesOf(random), ...company });
    const clicked = event === '$autocapture' ? choose(random, buttons) : undefined;
    insert.run(
      id,
      project.id,
      person?.id ?? null,
      event,
      person?.distinctId ?? uuidOf(`visitor ${id}`),
      timeOf(),
      properties,
      JSON.stringify(clicked === undefined ? [] : [toElement(clicked)]),
      clicked === undefined ? '' : `button.primary:attr__class="primary"nth-child="1"nth-of-type="1"text="${clicked}"`,
    );
  };
}

/** The kind at `place` if the kinds lie side by side, each as wide as its weight. */
function chooseKind(kinds: readonly EventKind[], place: number): EventKind {
  let rest = place;
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
