/**
 * Starts Tailcall's binary with its configuration for the port and the upstream at hand. The binary wants glibc 2.39;
 * on a system with an older one, TAILCALL_LIBS names a folder that holds a newer one with its loader
 * (ld-linux-x86-64.so.2, libc.so.6, libgcc_s.so.1 and so on).
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { columnsOf, typeDefs } from '../shared/schema.js';

const { PORT, UPSTREAM, TAILCALL_LIBS, CACHE_MS } = process.env;
const binary = fileURLToPath(new URL('node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall', import.meta.url));
const configuration = new URL('running.graphql', import.meta.url);

/** The fields that are calls; `window` stands for the arguments of a page. */
const calls = {
  'Query.project': '/api/projects/{{.args.id}}/',
  'Query.projects': '/api/projects/ window',
  'Query.organizationPlugins': '/api/organizations/{{.args.id}}/plugins/ window',
  'Project.primaryDashboard': '/api/projects/{{.value.id}}/dashboards/{{.value.primary_dashboard}}/',
  'Project.dashboard': '/api/projects/{{.value.id}}/dashboards/{{.args.id}}/',
  'Project.dashboards': '/api/projects/{{.value.id}}/dashboards/ window',
  'Project.events': '/api/projects/{{.value.id}}/events/ window',
  'Project.plugins': '/api/organizations/{{.value.organization}}/plugins/ window',
  'Project.detail': '/api/projects/{{.value.id}}/',
};

/** The lifetimes in its cache, in milliseconds, by the noun in the path of a field; it keeps nothing by default. */
const lifetimes = JSON.parse(CACHE_MS ?? '{}');

/** Tailcall wants a value that a path needs to be there, and an array to be declared as a list. */
const types = {
  'Project.organizationId': 'ID!',
  'Project.primaryDashboardId': 'ID!',
  'Plugin.configSchema': '[JSON]',
  'Project.testAccountFilters': '[JSON]',
  'Project.pathCleaningFilters': '[JSON]',
  'Project.dataAttributes': '[JSON]',
  'Project.autocaptureExceptionsErrorsToIgnore': '[JSON]',
  'Event.elements': '[JSON]',
};

const window = ['limit', 'offset'].map((name) => `{key: "${name}", value: "{{.args.${name}}}", skipEmpty: true}`);

function callOf(place) {
  const call = calls[place];
  if (call === undefined) return '';
  const [path, paged] = call.split(' ');
  const [, noun] = /(\w+)\/(?:\{[^/]*\/)?$/.exec(path);
  const cache = lifetimes[noun] === undefined ? '' : ` @cache(maxAge: ${lifetimes[noun]})`;
  return ` @http(url: "${UPSTREAM}${path}", ${paged ? `query: [${window.join(', ')}], ` : ''}dedupe: true)${cache}`;
}

/** The one change that bench/economy.ts asks for. */
const mutation = `type Mutation {
  updateDashboard(projectId: ID!, id: ID!, description: String!): Dashboard
    @http(url: "${UPSTREAM}/api/projects/{{.args.projectId}}/dashboards/{{.args.id}}/", method: PATCH,
      body: {description: "{{.args.description}}"})
}`;

/** The shared schema in Tailcall's terms: fields are named as REST names them, and shown under the schema's names. */
function configurationOf() {
  const head = `schema @server(port: ${PORT}, hostname: "127.0.0.1", workers: 1, enableJIT: true, introspection: false,
  responseValidation: false) @upstream(allowedHeaders: ["authorization"], httpCache: 0) { query: Query, mutation: Mutation }`;
  const bodies = [...typeDefs.matchAll(/type (\w+) \{([^}]*)\}/g)].map(([, type, fields]) => {
    const columns = columnsOf(type);
    const lines = [
      ...`${fields}${type === 'Project' ? '\n detail: Project' : ''}`.matchAll(/(\w+)(\([^)]*\))?: (\[?\w+!?\]?!?)/g),
    ]
      .filter(([, field]) => field !== 'limit' && field !== 'offset')
      .map(([, field, parameters = '', declared]) => {
        const place = `${type}.${field}`;
        const column = calls[place] === undefined ? (columns[field] ?? field) : field;
        const shown = column === field ? '' : ` @modify(name: "${field}")`;
        return `  ${column}${parameters}: ${types[place] ?? declared}${shown}${callOf(place)}`;
      });
    return `type ${type} {\n${lines.join('\n')}\n}`;
  });
  return [head, mutation, ...bodies].join('\n');
}

writeFileSync(configuration, configurationOf());
const loader = TAILCALL_LIBS
  ? [`${TAILCALL_LIBS}/ld-linux-x86-64.so.2`, '--library-path', `${TAILCALL_LIBS}:/lib/x86_64-linux-gnu`]
  : [];
const [command, ...args] = [...loader, binary, 'start', fileURLToPath(configuration)];
const child = spawn(command, args, {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, TAILCALL_TRACKER: 'false', TAILCALL_LOG_LEVEL: 'error' },
});
process.on('SIGTERM', () => child.kill());
child.on('exit', (code) => process.exit(code ?? 1));
