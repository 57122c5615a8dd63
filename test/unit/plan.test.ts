import { describe, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { cursors, linesOf, planOf } from '../support/plans.ts';

const organizationId = '018f1c4e-0000-7000-8000-00000000000a';

function dashboardId(id: number): string {
  return toGlobalId({ type: 'Dashboard', scope: '1', id: `${id}` });
}

function projectId(id: number): string {
  return toGlobalId({ type: 'Project', scope: '', id: `${id}` });
}

function cursorOf(offset: number): string {
  return cursors.encode({ noun: 'Dashboard', scope: '1' }, { offset });
}

/** Each row: what is asked, and the calls that are planned for it. */
const plans: readonly (readonly [name: string, query: string, calls: readonly string[]])[] = [
  [
    'relations of an object by its id start with it',
    '{ project(id: 1) { name dashboards(first: 20) { nodes { name } totalCount } events { nodes { event } } } }',
    ['1 1 getProject project', '1 1 listDashboards project.dashboards', '1 1 listEvents project.events'],
  ],
  [
    'relations alone prove an object, unless all answer 404',
    '{ project(id: 1) { id dashboards { nodes { name } } } }',
    ['1 1 listDashboards project.dashboards', '2 0–1 getProject project (absent)'],
  ],
  ['the id alone is read, to know that it exists', '{ project(id: 1) { id } }', ['1 1 getProject project']],
  [
    'page sizes multiply, and a detail column is one call for each object, however many there are',
    '{ projects(first: 20) { nodes { name dashboards(first: 5) { nodes { name tiles filters } } } } }',
    [
      '1 1 listProjects projects',
      '2 0–20 listDashboards projects.nodes.dashboards',
      '3 0–100 getDashboard projects.nodes.dashboards.nodes',
    ],
  ],
  [
    'aliases of one key, and detail columns in windows that overlap, count once',
    `{ a: project(id: 1) { createdAt } b: project(id: "1") { name updatedAt }
       c: projects(first: 3) { nodes { createdAt } } d: projects(first: 5) { nodes { createdAt } } }`,
    ['1 1 getProject a', '1 1 listProjects c d', '2 0–3 getProject c.nodes', '2 0–2 getProject d.nodes'],
  ],
  [
    'the owner of many is one object, and is known if it came with a list',
    `{ project(id: 1) { dashboards(first: 9) { nodes { project { name } } } }
       projects(first: 2) { nodes { dashboards(first: 9) { nodes { project { name createdAt } } } } } }`,
    [
      '1 1 listDashboards project.dashboards',
      '1 1 listProjects projects',
      '2 0–2 listDashboards projects.nodes.dashboards',
      '3 0–1 getProject project.dashboards.nodes.project (not in the page)',
      '3 0–2 getProject projects.nodes.dashboards.nodes.project',
    ],
  ],
  [
    'windows that fit one page share it, and a count is free beside them',
    `{ project(id: 1) { name a: dashboards(first: 3) { nodes { id } } b: dashboards(first: 7) { nodes { id } }
       c: dashboards { totalCount } d: dashboards(first: 0) { nodes { id } } } }`,
    ['1 1 getProject project', '1 1 listDashboards project.a project.b project.c project.d'],
  ],
  [
    'the last rows are a page of the maximum first, and then the end of the list',
    '{ project(id: 1) { name dashboards(last: 3) { nodes { id } } } }',
    [
      '1 1 getProject project',
      '1 1 listDashboards project.dashboards',
      '2 0–1 listDashboards project.dashboards (long list)',
    ],
  ],
  [
    'the ends of one list are one jump',
    '{ project(id: 1) { a: dashboards(last: 3) { nodes { id } } b: dashboards(last: 5) { nodes { id } } } }',
    [
      '1 1 listDashboards project.a project.b',
      '2 0–1 listDashboards project.a project.b (long list)',
      '2 0–1 getProject project (absent)',
    ],
  ],
  [
    'tails behind other cursors find the end that is read for one of the same length, and may come too early for a longer one',
    `{ project(id: 1) { a: dashboards(last: 3) { nodes { id } } b: dashboards(last: 3, after: "${cursorOf(2)}") { nodes { id } }
       c: dashboards(last: 5, after: "${cursorOf(4)}") { nodes { id } } } }`,
    [
      '1 1 listDashboards project.a',
      '1 1 listDashboards project.b',
      '1 1 listDashboards project.c',
      '2 0–1 listDashboards project.a project.b (long list)',
      '2 0–1 listDashboards project.c (long list)',
      '2 0–1 getProject project (absent)',
    ],
  ],
  [
    'a key that is repeated counts once',
    `{ nodes(ids: ["${projectId(9)}", "${projectId(1)}", "${projectId(9)}"]) { ... on Project { dashboards { totalCount } } } }`,
    ['1 2 listDashboards nodes.dashboards', '2 0–2 getProject nodes (absent)'],
  ],
  [
    'a key that is asked for by two fields counts once, too',
    `{ a: project(id: 9) { dashboards { totalCount } } b: project(id: 1) { dashboards { totalCount } }
       c: project(id: 9) { events { nodes { event } } } }`,
    [
      '1 1 listDashboards a.dashboards',
      '1 1 listDashboards b.dashboards',
      '1 1 listEvents c.events',
      '2 0–1 getProject a (absent)',
      '2 0–1 getProject b (absent)',
    ],
  ],
  [
    'the name of an organization is read once, whatever its aliases',
    `{ organization(id: "${organizationId}") { a: name b: name plugin(id: 5) { name } } }`,
    ['1 1 getPlugin organization.plugin', '2 0–1 listPlugins organization.a'],
  ],
  [
    'what @current stands for is one project',
    `{ project(id: "@current") { upstreamId events(first: 30) { nodes { id properties } }
       primaryDashboard { project { name } filters id } event(id: "nope") { id } } }`,
    [
      '1 1 getProject project.events',
      '1 1 listEvents project.events',
      '2 0–1 getEvent project.event (not in the page)',
      '2 0–1 getDashboard project.primaryDashboard',
    ],
  ],
  [
    'three keys of a list are looked for in a page of it',
    `{ nodes(ids: ["${dashboardId(1)}", "${dashboardId(2)}", "${dashboardId(3)}"]) { ... on Dashboard { name } } }`,
    ['1 1 listDashboards nodes', '2 0–3 getDashboard nodes (not in the page)'],
  ],
  [
    'two keys are not, and neither are detail columns',
    `{ nodes(ids: ["${dashboardId(1)}", "${dashboardId(2)}"]) { ... on Dashboard { name } }
       a: nodes(ids: ["${dashboardId(3)}", "${dashboardId(4)}", "${dashboardId(5)}"]) { ... on Dashboard { tiles } } }`,
    ['1 2 getDashboard nodes', '1 3 getDashboard a'],
  ],
  [
    'references need the column of their row, and wait for a page of their list',
    '{ project(id: 1) { primaryDashboard { name project { name } } dashboards(first: 5) { nodes { name } } } }',
    [
      '1 1 getProject project',
      '1 1 listDashboards project.dashboards',
      '3 0–1 getDashboard project.primaryDashboard (not in the page)',
    ],
  ],
  [
    'references within one list may be looked for in a page of it',
    '{ project(id: 1) { name dashboards(first: 4) { nodes { useDashboard { name } } } } }',
    [
      '1 1 getProject project',
      '1 1 listDashboards project.dashboards',
      '2 0–4 getDashboard project.dashboards.nodes',
      '3 0–1 listDashboards project.dashboards.nodes.useDashboard',
      '4 0–4 getDashboard project.dashboards.nodes.useDashboard (not in the page)',
    ],
  ],
  [
    'the name of an organization is a page of one plugin, unless plugins are read',
    `{ organization(id: "${organizationId}") { name } b: organization(id: "@current") { name plugins { nodes { name } } } }`,
    ['1 1 listPlugins organization.name', '1 1 listPlugins b.plugins'],
  ],
  [
    'plugins tell the name of their organization, projects do not',
    `{ organization(id: "${organizationId}") { plugins(first: 9) { nodes { organization { name } } } }
       projects(first: 2) { nodes { organization { name } } } }`,
    [
      '1 1 listPlugins organization.plugins',
      '1 1 listProjects projects',
      '2 0–2 listPlugins projects.nodes.organization.name',
    ],
  ],
  [
    'reports of equal arguments are one call for each object',
    `{ organization(id: "${organizationId}") { unusedPlugins { id }
       plugins(first: 5) { nodes { a: source { body } b: source { body } } } } }`,
    [
      '1 1 listUnusedPlugins organization.unusedPlugins',
      '1 1 listPlugins organization.plugins',
      '2 0–5 getPluginSource organization.plugins.nodes.a',
    ],
  ],
  [
    'a list of ids is one call, and the columns of its rows are a page of them and what is not in it',
    `{ organization(id: "${organizationId}") { unusedPlugins { name source { files { name } } } } }`,
    [
      '1 1 listUnusedPlugins organization.unusedPlugins',
      '2 0–1 listPlugins organization.unusedPlugins',
      '2 0–100 getPluginSource organization.unusedPlugins.source',
      '3 0–100 getPlugin organization.unusedPlugins (not in the page)',
    ],
  ],
  [
    'a check for updates is a write, although it is a GET',
    `mutation { checkPluginForUpdates(input: { id: 1, organizationId: "@current" }) { plugin { latestTag } } }`,
    [
      '1 1 checkPluginForUpdates checkPluginForUpdates',
      '2 0–1 getPlugin checkPluginForUpdates.plugin (not in the answer)',
    ],
  ],
  [
    'refused arguments cost nothing',
    `{ project(id: "x") { name } a: project(id: 1) { name dashboards(first: 101) { nodes { name } }
       b: dashboards(first: 1, last: 1) { nodes { id } } c: dashboard(id: "x") { name } d: dashboards(after: "x") { nodes { id } } } }`,
    ['1 1 getProject a'],
  ],
  [
    'mutations are one write each, one after the other, and nothing outlives the next',
    `mutation { a: updateProject(input: { id: 1, name: "x" }) { project { name createdAt dashboards { totalCount } } }
       b: deleteDashboard(input: { id: 2, projectId: 1 }) { dashboard { name tiles project { name } } }
       c: upgradePlugin(input: { id: 1, organizationId: "@current" }) { plugin { name } }
       d: updateDashboard(input: { id: "x", projectId: 1 }) { dashboard { name } } }`,
    [
      '1 1 updateProject a',
      '2 1 listDashboards a.project.dashboards',
      '3 1 updateDashboard b',
      '4 1 getProject b.dashboard.project',
      '5 1 upgradePlugin c',
      '6 0–1 getPlugin c.plugin (not in the answer)',
    ],
  ],
  ['what the schema says of itself is free', '{ __schema { types { name } } __typename }', []],
];

describe('The plan', () => {
  test.each(plans)('%s', (_name, query, calls) => {
    expect(linesOf(planOf(query)).toSorted()).toEqual(calls.toSorted());
  });

  test('heeds variables, @skip, @include, fragments and interfaces', () => {
    const query = `query ($rows: Boolean!, $first: Int) { ...Root project(id: 1) {
      name @skip(if: $rows) dashboards(first: $first) @include(if: $rows) { nodes { ... on Node { id ... on Dashboard { tiles } } } } } }
      fragment Root on Query { projects(first: $first) { totalCount } }`;
    expect(linesOf(planOf(query, { rows: false, first: 7 }))).toEqual([
      '1 1 listProjects projects',
      '2 0–1 getProject project (not in the page)',
    ]);
    expect(linesOf(planOf(query, { rows: true, first: 7 })).toSorted()).toEqual([
      '1 1 listDashboards project.dashboards',
      '1 1 listProjects projects',
      '2 0–1 getProject project (absent)',
      '2 0–7 getDashboard project.dashboards.nodes',
    ]);
  });

  test('reads cursors, so that windows share pages if they fit', () => {
    const after = cursors.encode({ noun: 'Dashboard', scope: '1' }, { offset: 60 });
    const query = `{ project(id: 1) { name a: dashboards(first: 50) { nodes { id } } b: dashboards(first: 50, after: "${after}") { nodes { id } } } }`;
    expect(planOf(query).upper).toBe(3);
    expect(planOf(query.replaceAll('50', '40')).upper).toBe(2);
    // A cursor is good for one list, but only the rows say which projects there are.
    const nested = `{ projects { nodes { dashboards(after: "${after}") { nodes { id } } } } }`;
    expect(linesOf(planOf(nested))).toEqual([
      '1 1 listProjects projects',
      '2 0–50 listDashboards projects.nodes.dashboards',
    ]);
  });

  test.each([
    [
      4,
      `{ project(id: 1) {
        dashboard(id: 101) { useDashboard { project { dashboards(first: 3) { nodes { id } } } } }
        primaryDashboard { project { dashboards(first: 5) { nodes { id } } } } } }`,
    ],
    [
      7,
      `{ a: node(id: "${dashboardId(101)}") { ... on Dashboard { useDashboard { name } } }
         b: node(id: "${dashboardId(102)}") { ... on Dashboard { useDashboard { name } } }
         projects(first: 1) { nodes { dashboard(id: 120) { name } } } }`,
    ],
  ])('allows for the %i calls of an operation whose rows come at any time', (calls, query) => {
    expect(planOf(query).upper).toBe(calls);
  });

  test.each([
    [
      'createProject(input: { name: "x" }) { project { dashboards(first: 1) { totalCount } organization { name } } }',
      2,
      3,
    ],
    ['updateDashboard(input: { id: 2, projectId: 1 }) { dashboard { project { name } useDashboard { name } } }', 2, 3],
    ['deleteProject(input: { id: 1 }) { project { dashboards { totalCount } } }', 1, 2],
    [
      `updatePluginSource(input: { id: 1, organizationId: "${organizationId}", deletedFiles: ["a.ts"] }) { body plugin { name } }`,
      1,
      2,
    ],
    [
      `updatePluginSource(input: { id: 1, organizationId: "${organizationId}", deletedFiles: ["a.ts"] }) { body plugin { id source { body } } }`,
      2,
      2,
    ],
  ])('of a mutation counts what is surely read after the write: %s', (mutation, lower, upper) => {
    expect(planOf(`mutation { ${mutation} }`)).toMatchObject({ lower, upper });
  });

  test('names an expensive column once and by its own name, whatever its aliases', () => {
    const { hints } = planOf('{ projects(first: 3) { nodes { a: weekStartDay b: weekStartDay } } }');
    expect(hints).toEqual(['`weekStartDay` of projects.nodes is in the detail view only: up to 3 calls']);
  });

  test('counts rows and waves, and names what makes it expensive', () => {
    const { lower, upper, rows, waves, hints } = planOf(
      '{ projects(first: 10) { nodes { dashboards(first: 10) { nodes { name tiles } } } } }',
    );
    expect({ lower, upper, rows, waves }).toEqual({ lower: 1, upper: 111, rows: 210, waves: 3 });
    expect(hints).toEqual(['`tiles` of projects.nodes.dashboards.nodes is in the detail view only: up to 100 calls']);
    // The read that only decides about absence is not counted as a wave.
    expect(planOf('{ project(id: 1) { dashboards { totalCount } } }')).toMatchObject({ lower: 1, upper: 2, waves: 1 });
  });
});
