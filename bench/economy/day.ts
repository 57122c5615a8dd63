/** The actions of a team in a day: the same ones for every contender. */
import { dashboardsPerProject } from '../../workspace/seed/dashboards.ts';
import { travel } from '../../workspace/seed/organizations.ts';
import { createRandom, type Random } from '../../workspace/seed/random.ts';
import { type PageName, type Place, pageNames } from './pages.ts';

/** A page that is open for a while. Times in minutes of the day. */
export interface Visit {
  readonly person: number;
  readonly page: PageName;
  readonly from: number;
  readonly to: number;
}

/** A person changes the dashboard that is open. */
export interface Edit {
  readonly person: number;
  readonly at: number;
}

/** All that happens in a day. */
export interface Day {
  /** The length of the day, in minutes. */
  readonly length: number;
  readonly places: readonly Place[];
  readonly visits: readonly Visit[];
  readonly edits: readonly Edit[];
  /** When one person exports everything. */
  readonly exportAt: number;
}

/** The size of a day, and the traffic in it. Times in minutes. */
export interface DaySize {
  readonly people: number;
  readonly length: number;
  /** The average time that a page stays open before another one takes its place. */
  readonly visit: number;
  /** The average time that a person works before the next edit. */
  readonly editEvery: number;
}

/** The whole form: hours in which nothing new would happen are left out. */
export const wholeDay: DaySize = { people: 20, length: 80, visit: 8, editEvery: 15 };

/** A minute, to see that everything works. */
export const smallDay: DaySize = { people: 4, length: 1, visit: 0.5, editEvery: 0.2 };

/** Projects of the organization that the team belongs to. */
export const projects = 4;

/** Pages that a person has open at a time. */
const openPages = 2;

/** Parts of the day: people come in the first, every other one leaves its pages for lunch, and they go in the last. */
const arrival = 0.12;
const lunch = { from: 0.45, to: 0.55 };
const departure = 0.9;
const exporting = 0.6;

/** Makes the day of a team. */
export function planDay({ people, length, visit, editEvery }: DaySize): Day {
  const random = createRandom(1);
  const persons = Array.from({ length: people }, (_, person) => person);
  const shifts = persons.map((person) => ({
    person,
    from: length * arrival * random(),
    to: length * (departure + (1 - departure) * random()),
  }));
  const visits = shifts.flatMap(({ person, from, to }) =>
    awake(person, length, { from, to }).flatMap((span) => visitsOf(person, span, visit, random)),
  );
  const edits = shifts.flatMap(({ person, from, to }) => editsOf(person, { from, to }, editEvery, random));
  return { length, places: persons.map((person) => placeOf(person)), visits, edits, exportAt: length * exporting };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** When a person has pages open. */
function awake(person: number, length: number, { from, to }: Span): readonly Span[] {
  if (person % 2 === 0) return [{ from, to }];
  return [
    { from, to: length * lunch.from },
    { from: length * lunch.to, to },
  ];
}

function visitsOf(person: number, { from, to }: Span, mean: number, random: Random): readonly Visit[] {
  const visits: Visit[] = [];
  for (let tab = 0; tab < openPages; tab += 1) {
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + exponential(mean, random));
      visits.push({
        person,
        page: pageNames[Math.floor(random() * pageNames.length)] ?? 'overview',
        from: at,
        to: end,
      });
      at = end;
    }
  }
  return visits;
}

function editsOf(person: number, { from, to }: Span, mean: number, random: Random): readonly Edit[] {
  const edits: Edit[] = [];
  for (let at = from + exponential(mean, random); at < to; at += exponential(mean, random)) {
    edits.push({ person, at });
  }
  return edits;
}

/** People share projects; each works on a dashboard of its own, which is not the first of its project. */
function placeOf(person: number): Place {
  const project = (person % projects) + 1;
  const own = 1 + Math.floor(person / projects);
  return { project, dashboard: firstDashboard(project) + own, organization: travel.id };
}

/** The first dashboard of a project. */
export function firstDashboard(project: number): number {
  return (project - 1) * dashboardsPerProject + 1;
}

function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random());
}
