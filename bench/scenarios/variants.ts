/** The variables of operations: which objects the nth operation asks for. Different variants share no object. */
import { dashboardId, organizationId } from '../upstream/world.ts';

/** The number of groups of twenty projects. */
const variantCount = 100;

/** Every variable that a question may declare. */
export interface Variant {
  readonly id: string;
  /** A dashboard of project `id`, among its first twenty. */
  readonly dashboard: number;
  /** The organization of project `id`. */
  readonly organization: string;
  /** The index of the first project of that organization in the list of projects, and the cursor before it. */
  readonly offset: number;
  readonly after: string | null;
  /** Five projects of the first hundred. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly d: string;
  readonly e: string;
  /** The number of rows in a big list, and of objects in a fan-out. */
  readonly rows: number;
  readonly parents: number;
}

/** The cursors before the projects 0, 20, 40 and on, for a schema that pages by cursors. */
export type Cursors = readonly (string | null)[];

/** The nth variant; up to the 2,000th each has a project of its own, up to the 100th an organization. */
export function variantOf(index: number, cursors: Cursors, changes: Partial<Variant> = {}): Variant {
  const group = index % variantCount;
  const id = group * 20 + ((index * 7 + Math.floor(index / variantCount)) % 20) + 1;
  const few = (place: number): string => `${((group * 5 + place) % variantCount) + 1}`;
  return {
    id: `${id}`,
    dashboard: dashboardId(id, (group % 20) + 1),
    organization: organizationId(group + 1),
    offset: group * 20,
    after: cursors[group] ?? null,
    a: few(0),
    b: few(1),
    c: few(2),
    d: few(3),
    e: few(4),
    rows: 100,
    parents: 20,
    ...changes,
  };
}

/** The variables that a query declares. */
export function variablesOf(query: string, variant: Variant): Record<string, unknown> {
  const values = Object.entries(variant);
  return Object.fromEntries(values.filter(([name]) => query.includes(`$${name}:`)));
}
