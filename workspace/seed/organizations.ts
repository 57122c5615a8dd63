import type { JsonObject } from '../json.ts';
import type { Store } from '../store.ts';
import { uuidOf } from './random.ts';

/** Someone who works in an organization. */
interface Member {
  readonly id: number;
  /** As in `created_by` of a dashboard. */
  readonly profile: JsonObject;
}

/** An organization of the demonstration data, and its members. */
export interface SeedOrganization {
  readonly id: string;
  readonly name: string;
  readonly members: readonly [Member, ...Member[]];
}

/** A personal API key of the first member of each organization. */
export const demoKeys: readonly [string, string] = ['phx_demo_fernweh_travel', 'phx_demo_kestrel_bank'];

/** A personal API key of the second member of each organization, who is neither its owner nor an administrator. */
export const memberKeys: readonly [string, string] = ['phx_demo_fernweh_member', 'phx_demo_kestrel_member'];

/** Travel, with the projects 1 to 4. */
export const travel: SeedOrganization = organization('Fernweh Travel', 'fernweh.example', 1, [
  ['Ida', 'Lindqvist'],
  ['Mateo', 'Ferrer'],
  ['Priya', 'Raman'],
]);

/** Banking, with the projects 5 and 6. */
export const bank: SeedOrganization = organization('Kestrel Bank', 'kestrel.example', 4, [
  ['Owen', 'Achebe'],
  ['Hana', 'Sato'],
]);

function organization(
  name: string,
  domain: string,
  firstId: number,
  people: readonly [readonly [string, string], ...(readonly [string, string])[]],
): SeedOrganization {
  const toMember = ([first, last]: readonly [string, string], index: number): Member =>
    member(firstId + index, first, last, domain);
  const [head, ...rest] = people;
  return {
    id: uuidOf(name),
    name,
    members: [toMember(head, 0), ...rest.map((one, index) => toMember(one, index + 1))],
  };
}

function member(id: number, first: string, last: string, domain: string): Member {
  const profile = {
    id,
    uuid: uuidOf(`${first} ${last}`),
    distinct_id: uuidOf(`distinct id of ${first} ${last}`),
    first_name: first,
    last_name: last,
    email: `${first.toLowerCase()}@${domain}`,
    is_email_verified: id % 2 === 1,
  };
  return { id, profile };
}

/** Stores both organizations and their members. */
export function seedOrganizations({ database }: Store): void {
  const insertOrganization = database.prepare('INSERT INTO organizations VALUES (?, ?)');
  const insertUser = database.prepare('INSERT INTO users VALUES (?, ?, ?, ?, ?)');
  for (const [index, { id, name, members }] of [travel, bank].entries()) {
    insertOrganization.run(id, name);
    const keys = [demoKeys[index], memberKeys[index]];
    for (const [position, person] of members.entries()) {
      const level = position === 0 ? 15 : 1;
      insertUser.run(person.id, id, keys[position] ?? null, level, JSON.stringify(person.profile));
    }
  }
}
