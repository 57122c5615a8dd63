import type { Json, JsonObject } from '../support/replies.ts';
import { type Mapped, mapColumns } from './columns.ts';
import { columnsOf, pageColumnsOf } from './document.ts';
import { organizationId } from './operation-table.ts';

/** A type whose rows come in a list and one by one. */
export interface Noun {
  readonly type: string;
  /** The columns that a list has, and all of them. */
  readonly list: readonly Mapped[];
  readonly detail: readonly Mapped[];
  readonly path: string;
  /** The operation that reads the list; `rows` is the way to a row. */
  readonly listQuery: (selection: string, rows?: string) => string;
  readonly detailQuery: (selection: string) => string;
  /** The response path of the list's rows, and of one object. */
  readonly nodes: readonly string[];
  readonly object: readonly string[];
  /** A row around columns: they are the row itself, but a user is a part of a dashboard. */
  readonly rowOf: (id: string, columns: JsonObject) => JsonObject;
  /** A selection around fields, in the same way, and the names on the way to them. */
  readonly selectionOf: (fields: string) => string;
  readonly within: readonly string[];
}

const dashboard = toNoun('Dashboard', '/api/projects/1/dashboards/', 'project(id: 1)');

/** Every type that has columns. */
export const nouns: readonly Noun[] = [
  toNoun('Project', '/api/projects/'),
  dashboard,
  toNoun('Event', '/api/projects/1/events/', 'project(id: 1)'),
  toNoun('Plugin', `/api/organizations/${organizationId}/plugins/`, `organization(id: "${organizationId}")`),
  {
    ...dashboard,
    type: 'User',
    list: mapColumns('User', columnsOf('User'), columnsOf('User')),
    detail: mapColumns('User', columnsOf('User'), columnsOf('User')),
    rowOf: (id, columns) => dashboard.rowOf(id, { created_by: columns }),
    selectionOf: (fields) => dashboard.selectionOf(`createdBy { ${fields} }`),
    within: ['createdBy'],
  },
];

function toNoun(type: string, path: string, owner?: string): Noun {
  const field = type.toLowerCase();
  const wrap = (selection: string): string =>
    owner === undefined ? `{ ${selection} }` : `{ ${owner} { ${selection} } }`;
  const names = owner?.split('(').slice(0, 1) ?? [];
  const all = columnsOf(type);
  return {
    type,
    list: mapColumns(type, pageColumnsOf(`${type}Page`), all),
    detail: mapColumns(type, all, all),
    path,
    listQuery: (selection, rows = 'nodes') => wrap(`${field}s(first: 100) { ${rows} ${selection} }`),
    detailQuery: (selection) => `query Read($id: ID!) ${wrap(`${field}(id: $id) ${selection}`)}`,
    nodes: [...names, `${field}s`, 'nodes'],
    object: [...names, field],
    rowOf: (id, columns) => ({ id: type === 'Event' ? id : Number(id), ...columns }),
    selectionOf: (fields) => `{ upstreamId ${fields} }`,
    within: [],
  };
}

/** The object of an answer that has these fields. */
export function answerOf({ within }: Noun, id: string, fields: Record<string, Json>): unknown {
  const [outer] = within;
  return outer === undefined ? { upstreamId: id, ...fields } : { upstreamId: id, [outer]: fields };
}
