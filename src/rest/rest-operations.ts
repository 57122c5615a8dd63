import { operations } from './generated/views.ts';
import { mapNouns, type Noun } from './nouns.ts';

/** The `operationId` of a REST operation, as the OpenAPI document names it. */
export type RestOperationId = keyof typeof operations;

/** Events, the values of their properties, and everything else. The service limits each separately, for each key. */
export const surfaces = ['events', 'values', 'rest'] as const;

/** A part of the API with limits of its own. */
export type Surface = (typeof surfaces)[number];

/** One operation of the REST API. Their number is fixed, which bounds the number of series in metrics. */
export interface RestOperation {
  readonly id: RestOperationId;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As in the OpenAPI document, such as `/api/projects/{project_id}/events/{id}/`. */
  readonly path: string;
  /** The path in metrics and traces, such as `/api/projects/:id/events/:id/`. Several operations may have one route. */
  readonly route: string;
  readonly surface: Surface;
  readonly noun: Noun;
  /** True if the path names one row. */
  readonly isRow: boolean;
  /** The part of the path behind the collection or the row; empty if the path ends there. */
  readonly subpath: string;
}

/** The operations on rows of each noun. An operation that the API does not have is undefined. */
export const rowOperations = mapNouns((noun) => ({
  get: operations[`get${noun}` as const],
  list: operations[`list${noun}s` as const],
  create: operationNamed(`create${noun}`),
  update: operationNamed(`update${noun}`),
  delete: operationNamed(`delete${noun}`),
}));

function operationNamed(id: string): RestOperation | undefined {
  return isRestOperationId(id) ? operations[id] : undefined;
}

/** True if a text is the `operationId` of a REST operation. */
export function isRestOperationId(text: string): text is RestOperationId {
  return Object.hasOwn(operations, text);
}
