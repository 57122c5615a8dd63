/** For each operation of the benchmark its REST calls, and its answer put together by hand. */
import { email, happened, named, plugin, typed, wideDashboard, wideEvent, widePlugin, wideProject } from './rows.js';

const listOf = (page, row) => ({ results: page.results.map(row) });
const projects = (get, limit, offset) => get(`/api/projects/?limit=${limit}&offset=${offset}`);
const project = (get, id) => get(`/api/projects/${id}/`);
const dashboards = (get, id, limit) => get(`/api/projects/${id}/dashboards/?limit=${limit}`);
const events = (get, id, limit) => get(`/api/projects/${id}/events/?limit=${limit}`);
const plugins = (get, id, limit) => get(`/api/organizations/${id}/plugins/?limit=${limit}`);

/** One list of plugins for each organization of the projects. */
async function pluginsOf(rows, get, limit, row) {
  const ids = [...new Set(rows.map(({ organization }) => organization))];
  const pages = await Promise.all(ids.map((id) => plugins(get, id, limit)));
  return new Map(ids.map((id, index) => [id, listOf(pages[index], row)]));
}

async function nested({ id }, get) {
  const [row, boards, happenings] = await Promise.all([project(get, id), dashboards(get, id, 20), events(get, id, 20)]);
  return { project: { name: row.name, dashboards: listOf(boards, email), events: listOf(happenings, happened) } };
}

async function wide(ids, get) {
  const rows = await Promise.all(
    ids.map(async (id) => {
      const [row, boards, happenings] = await Promise.all([
        project(get, id),
        dashboards(get, id, 3),
        events(get, id, 3),
      ]);
      return { row, dashboards: listOf(boards, wideDashboard), events: listOf(happenings, wideEvent) };
    }),
  );
  const of = await pluginsOf(
    rows.map(({ row }) => row),
    get,
    3,
    widePlugin,
  );
  return rows.map(({ row, ...relations }) => ({
    ...wideProject(row),
    ...relations,
    plugins: of.get(row.organization),
  }));
}

const brief = ({ name, timezone }) => ({ name, timezone });

/** Every operation: `(variables, get)` to its data. */
export const operations = {
  S1: async ({ id }, get) => {
    const row = await project(get, id);
    return {
      project: {
        name: row.name,
        timezone: row.timezone,
        updatedAt: row.updated_at,
        sessionRecordingOptIn: row.session_recording_opt_in,
        primaryDashboardId: row.primary_dashboard,
      },
    };
  },
  S2: nested,
  S3: async ({ offset, parents }, get) => {
    const { results } = await projects(get, parents, offset);
    const pages = await Promise.all(results.map(({ id }) => dashboards(get, id, 5)));
    const rows = results.map(({ name }, index) => ({ name, dashboards: listOf(pages[index], named) }));
    return { projects: { results: rows } };
  },
  S4: async ({ offset }, get) => {
    const { results } = await projects(get, 20, offset);
    const of = await pluginsOf(results, get, 5, typed);
    return { projects: { results: results.map(({ id, organization }) => ({ id, plugins: of.get(organization) })) } };
  },
  S5: async ({ organization, rows }, get) => ({ plugins: listOf(await plugins(get, organization, rows), plugin) }),
  S6: async () => ({ __typename: 'Query' }),
  duplicates: async ({ offset, id, organization }, get) => {
    const [page, twenty] = await Promise.all([projects(get, 20, offset), plugins(get, organization, 20)]);
    const five = { results: twenty.results.slice(0, 5).map(named) };
    const rows = page.results.map((row) => ({ ...named(row), plugins: five }));
    const row = page.results.find((one) => one.id === Number(id));
    return { projects: { results: rows }, project: brief(row), plugins: listOf(twenty, typed) };
  },
  aliases: async ({ id }, get) => {
    const [{ name }, { results }] = await Promise.all([project(get, id), dashboards(get, id, 20)]);
    const few = { results: results.slice(0, 5).map(named) };
    const more = { results: results.slice(0, 10).map((row) => ({ id: row.id, pinned: row.pinned })) };
    const many = { results: results.map((row) => ({ id: row.id, description: row.description })) };
    return { project: { name, few, more, many } };
  },
  totals: async ({ id }, get) => {
    const page = await dashboards(get, id, 5);
    return { project: { total: { count: page.count }, some: listOf(page, named) } };
  },
  views: async ({ offset }, get) => {
    const { results } = await projects(get, 5, offset);
    const rows = results.map(async ({ id, name, timezone }) => {
      const [row, page] = await Promise.all([project(get, id), dashboards(get, id, 5)]);
      const primary = page.results.find((one) => one.id === row.primary_dashboard);
      return {
        name,
        timezone,
        updatedAt: row.updated_at,
        sessionRecordingOptIn: row.session_recording_opt_in,
        primaryDashboard: { id: primary.id, name: primary.name, pinned: primary.pinned },
        dashboards: listOf(page, email),
      };
    });
    return { projects: { results: await Promise.all(rows) } };
  },
  known: async ({ id, dashboard }, get) => {
    const [row, page] = await Promise.all([project(get, id), dashboards(get, id, 20)]);
    const { name, pinned } = page.results.find((one) => one.id === Number(dashboard));
    const opened = { id: dashboard, name, pinned, project: brief(row) };
    return { project: { ...brief(row), dashboards: listOf(page, named), opened } };
  },
  keys: async (ids, get) => {
    const { results } = await projects(get, 100, 0);
    const entries = Object.entries(ids).map(([name, id]) => [
      name,
      brief(results.find((one) => one.id === Number(id))),
    ]);
    return Object.fromEntries(entries);
  },
  persisted: nested,
  wide: async (ids, get) => {
    const rows = await wide(Object.values(ids), get);
    return Object.fromEntries(Object.keys(ids).map((name, index) => [name, rows[index]]));
  },
};
