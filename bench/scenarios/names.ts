/** The operations of the benchmark, by name: what each asks for. S1 to S6 are the usual ones, the others what REST calls hang on. */
export const scenarioTitles = {
  S1: 'one entity: a project with five columns',
  S2: 'nested: a project, 20 dashboards, 20 events',
  S3: 'fan-out: 20 projects, each with 5 dashboards',
  S4: 'equal lists: 20 projects, each with the 5 plugins they share',
  S5: 'big list: 100 plugins with every column',
  S6: 'hello: `{ __typename }`',
  duplicates: 'duplicates: S4, beside one of its projects by id and 20 of the plugins',
  aliases: 'aliases: three windows of one list of dashboards',
  totals: 'totals: how many dashboards a project has, and five of them',
  views: 'views: 5 projects with columns of the detail view, their primary dashboards and 5 dashboards each',
  known: 'known objects: a dashboard by id, with its project, beside the list that holds it',
  keys: 'keys: 5 projects by id, columns of the list view',
  persisted: 'persisted: S2, by GET and hash',
  wide: 'wide: 400 fields below 5 projects',
} as const;

/** Name of an operation. */
export type ScenarioName = keyof typeof scenarioTitles;

/** All names, in the order of the tables. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of an object literal
export const scenarioNames = Object.keys(scenarioTitles) as readonly ScenarioName[];

/** The operation that asks a gateway for the facts of a scenario. */
export interface Question {
  readonly query: string;
  /** Adds to the answer what its client knows without having asked. */
  readonly complete?: (data: unknown) => unknown;
}

/** The questions of one kind of schema; none if it cannot answer one. */
export type Questions = Readonly<Partial<Record<ScenarioName, Question>>>;
