import type { GatewayOptions } from '../../src/gateway.ts';
import { startOver } from './both.ts';
import { type Answer, ask } from './gateway.ts';
import { listOf } from './lists.ts';
import { createFolder } from './persisted.ts';
import type { Routes } from './routes.ts';
import { dashboard, listedDashboard, listedProject, project } from './rows.ts';
import { type Entries, startTenants, type TenantGateway } from './tenants.ts';
import type { Upstream } from './upstream.ts';

/** Projects 1 to 3 with dashboards. */
export const routes: Routes = {
  'GET /api/projects/': listOf([1, 2, 3].map((id) => listedProject(id))),
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'PATCH /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/dashboards/': listOf([listedDashboard(7), listedDashboard(8)]),
  'GET /api/projects/:id/dashboards/:at/': ({ params }) => dashboard(Number(params['at'])),
  'POST /api/projects/:id/dashboards/': dashboard(9),
  'PATCH /api/projects/:id/dashboards/:at/': ({ params }) => dashboard(Number(params['at'])),
};

/** A tenant with roles, and one without. */
const entries: Entries = {
  acme: {
    key: 'phx_shared',
    projects: ['1', '2', '3'],
    mutations: ['createDashboard', 'updateDashboard', 'updateProject'],
    roles: {
      viewer: {},
      local: { projects: ['2'] },
      editor: { projects: ['1'], mutations: ['updateDashboard'] },
      writer: { projects: ['3'], mutations: ['createDashboard', 'updateDashboard'] },
      agent: { projects: ['1'], documents: ['Overview'] },
    },
  },
  globex: { key: 'phx_shared', projects: ['3'] },
};

/** The listed documents, by id. */
export const documents = {
  overview: 'query Overview { projects { nodes { name } } }',
  other: 'query Other { projects { nodes { name } } }',
  unnamed: '{ projects { totalCount } }',
  change: `mutation Change { updateProject(input: { id: 1, name: "x" }) { project { name } } }`,
};
/** Three projects, each by its id. */
export const threeProjects =
  '{ one: project(id: 1) { name } two: project(id: 2) { name } three: project(id: 3) { name } }';

/** Starts a gateway with those listed documents, and others if its mode allows them. */
export async function startListed(
  upstream: { readonly url: string },
  options: Partial<GatewayOptions> = {},
  { given = entries, listed = documents }: { readonly given?: Entries; readonly listed?: object } = {},
): Promise<TenantGateway> {
  const folder = createFolder();
  const { persisted, ...others } = options;
  const files = folder.write('manifest.json', listed);
  const gateway = await startTenants(upstream, given, { persisted: { files, ...persisted }, ...others });
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Asks for a listed document by its id. */
export async function askById(
  gateway: TenantGateway,
  user: string,
  documentId: string,
  more: object = {},
): Promise<Answer> {
  return ask(gateway.url, '', { headers: await gateway.headersOf(user), ...{ documentId, ...more } });
}

/** The names and ids in what was answered, in its order. */
export function namesIn(data: unknown): readonly string[] {
  const found = JSON.stringify(data).matchAll(/"(?:name|upstreamId)":"(?<name>[^"]*)"/g);
  return [...found].map(({ groups }) => groups?.['name'] ?? '');
}

/** Starts a gateway with listed documents, over an upstream with `routes`: both stop when the test has ended. */
export function startBothListed(
  options: Partial<GatewayOptions> = {},
  documentsAndEntries: { readonly given?: Entries; readonly listed?: object } = {},
  others: Routes = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: TenantGateway }> {
  return startOver({ ...routes, ...others }, (upstream) => startListed(upstream, options, documentsAndEntries), {
    hold: 0,
  });
}
