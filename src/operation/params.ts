import type { JsonObject } from '../rest/values.ts';

/**
 * The parameters of a request, the same for every transport (GraphQL over HTTP §5). Unknown members are dropped: a
 * request may wait for seconds, and a parsed body takes up to 25 times its size.
 */
export interface GraphQLParams {
  readonly query: string | undefined;
  /**
   * The variables as they were sent. Once the operation is known, only the variables that it declares (see
   * `keepDeclared`).
   */
  variables: JsonObject | undefined;
  readonly operationName: string | undefined;
  /** `cost`, `explain` and `persistedQuery`. */
  readonly extensions: JsonObject | undefined;
  /** The members that may name a persisted document. */
  readonly ids: JsonObject;
}

/** True if a client asks for the plan of an operation. Nothing is executed then, even if there is no plan. */
export function asksForPlan({ extensions }: GraphQLParams): boolean {
  return extensions?.['explain'] === 'plan';
}

/**
 * The members of a request that may hold an id. `documentId` comes from GraphQL over HTTP, appendix A (graphql-codegen,
 * urql); network layers for Relay usually send the others (https://relay.dev/docs/guides/persisted-queries/).
 */
export const idMembers = ['documentId', 'doc_id', 'id', 'documentID'] as const;
