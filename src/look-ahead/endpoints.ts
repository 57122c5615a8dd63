import { operations } from '../rest/generated/views.ts';
import { isRestOperationId, type RestOperationId } from '../rest/operation-ids.ts';
import type { Kind } from '../rest/paths.ts';

/** What a REST operation is about, as the template of its path says. */
export interface Endpoint {
  readonly operation: RestOperationId;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly kind: Kind;
  /** Whether the path names one row. */
  readonly isRow: boolean;
  /** What follows the collection or the row; empty for these themselves. */
  readonly report: string;
}

const kinds = { projects: 'Project', dashboards: 'Dashboard', events: 'Event', plugins: 'Plugin' } as const;

const template = /^\/api\/(?:\w+\/\{(?!id\})\w+\}\/)?(?<noun>\w+)\/(?<row>\{id\}\/)?(?<report>.*)$/;

const endpoints = new Map(
  Object.keys(operations)
    .filter(isRestOperationId)
    .map((name) => [name, toEndpoint(name)]),
);

/** The endpoint of an operation. */
export function endpointOf(operation: RestOperationId): Endpoint {
  return endpoints.get(operation) ?? toEndpoint(operation);
}

/** The operation that reads one row of a kind. */
export function rowEndpoint(kind: Kind): Endpoint {
  return reading(kind, true);
}

/** The operation that reads pages of a kind. */
export function listEndpoint(kind: Kind): Endpoint {
  return reading(kind, false);
}

const readings = new Map([...endpoints.values()].filter(isReading).map((one) => [`${one.kind} ${one.isRow}`, one]));

function reading(kind: Kind, isRow: boolean): Endpoint {
  const endpoint = readings.get(`${kind} ${isRow}`);
  if (endpoint === undefined) throw new Error(`no operation reads ${kind}`);
  return endpoint;
}

function isReading({ method, report }: Endpoint): boolean {
  return method === 'GET' && report === '';
}

function toEndpoint(operation: RestOperationId): Endpoint {
  const { method, path } = operations[operation];
  const { noun = '', row, report = '' } = template.exec(path)?.groups ?? {};
  if (!isNoun(noun)) throw new Error(`${path} is about no noun of the schema`);
  return { operation, method, path, kind: kinds[noun], isRow: row !== undefined, report };
}

function isNoun(text: string): text is keyof typeof kinds {
  return Object.hasOwn(kinds, text);
}
