import type { JsonObject } from '../rest/values.ts';

/**
 * What a client asks, whichever transport brought it (GraphQL over HTTP §5). Members that mean nothing here are dropped:
 * a request may wait for seconds, and its body, once parsed, takes up to 25 times its size.
 */
export interface GraphQLParams {
  readonly query: string | undefined;
  /** As they were sent; those that the operation declares, once it is known (see `keepDeclared`). */
  variables: JsonObject | undefined;
  readonly operationName: string | undefined;
  /** `cost`, `explain` and `persistedQuery`. */
  readonly extensions: JsonObject | undefined;
  /** The members that may name a persisted document. */
  readonly ids: JsonObject;
}

/** True if a client wants the plan of an operation. Then nothing is executed, whatever else becomes of the request. */
export function asksForPlan({ extensions }: GraphQLParams): boolean {
  return extensions?.['explain'] === 'plan';
}

/**
 * Members of a request that hold an id: `documentId` of GraphQL over HTTP, appendix A (graphql-codegen, urql), and what
 * network layers of Relay are written to send (https://relay.dev/docs/guides/persisted-queries/).
 */
export const idMembers = ['documentId', 'doc_id', 'id', 'documentID'] as const;
