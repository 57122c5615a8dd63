import type { Contract } from './contract.ts';

/** The schemas of each noun's views. Where there is one view only, both are the same. */
const viewSchemas = {
  Project: { list: 'ProjectListItem', detail: 'Project' },
  Dashboard: { list: 'DashboardListItem', detail: 'Dashboard' },
  Event: { list: 'Event', detail: 'Event' },
  Plugin: { list: 'Plugin', detail: 'Plugin' },
  User: { list: 'User', detail: 'User' },
};

const requestSchemas = { Project: 'ProjectRequest', Dashboard: 'DashboardRequest', Plugin: 'PluginRequest' };

/** The TypeScript source of the tables that the gateway reads at run time: views, request columns and operations. */
export function viewsSource(contract: Contract): string {
  const views = mapValues(viewSchemas, (schemas) => mapValues(schemas, contract.columns));
  const requestColumns = mapValues(requestSchemas, contract.columns);
  const operations = Object.fromEntries(contract.operations.map(({ id, method, path }) => [id, { method, path }]));
  return [
    table('views', 'The columns that rows of each noun have in the list view and in the detail view.', views),
    table('requestColumns', 'The columns of each noun that create and update requests can set.', requestColumns),
    table('operations', 'Every REST operation by its `operationId`; paths keep their `{parameters}`.', operations),
  ].join('\n');
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function table(name: string, description: string, value: object): string {
  return `/** ${description} */\nexport const ${name} = ${literal(value, '')} as const;\n`;
}

/** `value` as TypeScript source: objects that nest and arrays go one member a line, flat objects on one line. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) throw new Error('expected a string, an array or an object');
  const array = Array.isArray(value);
  const [open, close] = array ? ['[', ']'] : ['{', '}'];
  const entries: [string, unknown][] = Object.entries(value);
  const members = entries.map(([key, member]) => (array ? '' : `${key}: `) + literal(member, `${indent}  `));
  const flat = !array && entries.every(([, member]) => typeof member === 'string');
  if (flat) return `${open} ${members.join(', ')} ${close}`;
  return `${open}\n${members.map((member) => `${indent}  ${member},\n`).join('')}${indent}${close}`;
}
