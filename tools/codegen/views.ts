import { nounNames, nouns } from '../../src/rest/nouns.ts';
import type { Contract } from './contract.ts';

const rowTypes = [...nounNames, 'User'];

export const rowSchemas: ReadonlySet<string> = new Set(rowTypes.flatMap((type) => [type, `${type}ListItem`]));

/** The TypeScript source of the tables that the gateway reads at run time: views, request columns and operations. */
export function viewsSource({ columns, operations }: Contract): string {
  const views = rowTypes.map((type): Entry => {
    const detail = columns(type);
    // Lists have a schema of their own if they show fewer columns.
    return [type, { list: columns(`${type}ListItem`) ?? detail, detail }];
  });
  const requests = rowTypes
    .map((type): Entry => [type, columns(`${type}Request`)])
    .filter(([, list]) => list !== undefined);
  const byId = operations.map(({ id, method, path }): Entry => {
    const route = path.replaceAll(/\{\w+\}/g, ':id');
    return [id, { id, method, path, route, surface: surfaceOf(path), ...subjectOf(path) }];
  });
  return [
    table('views', 'The columns that rows of each noun have in the list view and in the detail view.', views),
    table('requestColumns', 'The columns of each noun that create and update requests can set.', requests),
    table('operations', 'Every REST operation by its `operationId`; see `RestOperation`.', byId),
  ].join('\n');
}

type Entry = readonly [name: string, value: unknown];

/** The service has separate rate limits for its event endpoints (see `Surface`). */
function surfaceOf(path: string): string {
  if (path.endsWith('/events/values/')) return 'values';
  return path.startsWith('/api/projects/{project_id}/events/') ? 'events' : 'rest';
}

/** The one form of all paths (see `src/rest/paths.ts`), with a parameter in the place of each id. */
const pathForm = /^\/api\/(?:\w+\/\{(?!id\})\w+\}\/)?(?<collection>\w+)\/(?<row>\{id\}\/)?(?<subpath>.*)$/;

/** The subject of an operation, read from the template of its path. */
function subjectOf(path: string): object {
  const { collection, row, subpath = '' } = pathForm.exec(path)?.groups ?? {};
  const noun = nounNames.find((name) => nouns[name].path === collection);
  if (noun === undefined) throw new Error(`${path} is about no noun of the schema`);
  return { noun, isRow: row !== undefined, subpath };
}

function table(name: string, description: string, entries: readonly Entry[]): string {
  const value = Object.fromEntries(entries);
  return `/** ${description} */\nexport const ${name} = ${literal(value, '')} as const;\n`;
}

/** `value` as TypeScript source. Flat objects are on one line. Arrays and other objects have a line for each member. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null)
    throw new Error('expected a string, a boolean, an array or an object');
  const array = Array.isArray(value);
  const [open, close] = array ? ['[', ']'] : ['{', '}'];
  const entries: [string, unknown][] = Object.entries(value);
  const members = entries.map(([key, member]) => (array ? '' : `${key}: `) + literal(member, `${indent}  `));
  const flat = !array && entries.every(([, member]) => typeof member !== 'object');
  if (flat) return `${open} ${members.join(', ')} ${close}`;
  return `${open}\n${members.map((member) => `${indent}  ${member},\n`).join('')}${indent}${close}`;
}
