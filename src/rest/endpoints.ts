import { operations } from './generated/views.ts';
import { type Noun, nounNames, nouns } from './nouns.ts';
import { isRestOperationId, type RestOperationId } from './operation-ids.ts';

/** The subject of a REST operation, read from the template of its path. */
export interface Endpoint {
  readonly operation: RestOperationId;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly noun: Noun;
  /** True if the path names one row. */
  readonly isRow: boolean;
  /** The part of the path behind the collection or the row; empty if the path ends there. */
  readonly report: string;
}

/** The one form of all templates (see `paths.ts`), with a parameter in the place of each id. */
const template = /^\/api\/(?:\w+\/\{(?!id\})\w+\}\/)?(?<collection>\w+)\/(?<row>\{id\}\/)?(?<report>.*)$/;

const endpoints = new Map(
  Object.keys(operations)
    .filter(isRestOperationId)
    .map((name) => [name, toEndpoint(name)]),
);

/** The endpoint of an operation. */
export function endpointOf(operation: RestOperationId): Endpoint {
  return endpoints.get(operation) ?? toEndpoint(operation);
}

/** The operation that reads one row of a noun. */
export function rowEndpoint(noun: Noun): Endpoint {
  return reading(noun, true);
}

/** The operation that reads pages of a noun. */
export function listEndpoint(noun: Noun): Endpoint {
  return reading(noun, false);
}

const readings = new Map([...endpoints.values()].filter(isReading).map((one) => [`${one.noun} ${one.isRow}`, one]));

function reading(noun: Noun, isRow: boolean): Endpoint {
  const endpoint = readings.get(`${noun} ${isRow}`);
  if (endpoint === undefined) throw new Error(`no operation reads ${noun}`);
  return endpoint;
}

function isReading({ method, report }: Endpoint): boolean {
  return method === 'GET' && report === '';
}

function toEndpoint(operation: RestOperationId): Endpoint {
  const { method, path } = operations[operation];
  const { collection, row, report = '' } = template.exec(path)?.groups ?? {};
  const noun = nounNames.find((name) => nouns[name].path === collection);
  if (noun === undefined) throw new Error(`${path} is about no noun of the schema`);
  return { operation, method, path, noun, isRow: row !== undefined, report };
}
