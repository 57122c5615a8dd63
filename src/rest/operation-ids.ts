import { operations } from './generated/views.ts';

/** The `operationId` of a REST operation, as the OpenAPI document names it. */
export type RestOperationId = keyof typeof operations;

/** Whether a text is the `operationId` of a REST operation. */
export function isRestOperationId(text: string): text is RestOperationId {
  return Object.hasOwn(operations, text);
}
