/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Who may edit a dashboard. */
export type RestrictionLevel =
  /** Everyone in the project can edit (21 in the REST API). */
  | 'EVERYONE_CAN_EDIT'
  /** Only those invited to this dashboard can edit (37 in the REST API). */
  | 'ONLY_INVITED_CAN_EDIT'
  /** A value of the upstream that this enum does not have. It appears only in answers. */
  | 'UNKNOWN';

/** A dashboard, and the fields to change. A field that is left out is not sent. A field that is null is sent as null. */
export type UpdateDashboardInput = {
  /** The dashboard: its global id, or its upstream id (an integer) beside `projectId`. */
  id: string | number;
  /**
   * The project that the dashboard is in: global id, upstream id or `@current`. Required if `id` is an upstream id. With a
   * global `id` it may be left out, or must agree with it.
   */
  projectId?: string | number | null | undefined;
  /** The name of the dashboard. */
  name?: string | null | undefined;
  /** What the dashboard is about, in free text. */
  description?: string | null | undefined;
  /** Whether the dashboard is pinned to the top of the project. */
  pinned?: boolean | null | undefined;
  /**
   * Whether the dashboard is deleted. To bring a dashboard back, use `restoreDashboard`: the upstream accepts that only if
   * nothing else is sent.
   */
  deleted?: boolean | null | undefined;
  /** Whether the insights on the dashboard are deleted along with it, beside `deleted`. */
  deleteInsights?: boolean | null | undefined;
  /** The filters that apply to every tile. The structure is the upstream's own. */
  filters?: unknown;
  /** The tags of the dashboard. They replace the ones it has. */
  tags?: Array<string | null | undefined> | null | undefined;
  /** Who may edit the dashboard. */
  restrictionLevel?: RestrictionLevel | null | undefined;
  /**
   * Further members of the request body, as a JSON object with REST names (snake_case): members that the REST API takes
   * and this schema does not have. Names of columns, and of input fields of mutations of dashboards, are refused.
   */
  extra?: unknown;
};

export type CodegenOverviewQueryVariables = Exact<{
  project: string | number;
}>;


export type CodegenOverviewQuery = { project: { name: string | null, timezone: string | null } | null };

export type CodegenPageQueryVariables = Exact<{
  project: string | number;
  first: number;
  after?: string | null | undefined;
}>;


export type CodegenPageQuery = { project: { dashboards: { edges: Array<{ node: { name: string | null } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type CodegenDescribeMutationVariables = Exact<{
  input: UpdateDashboardInput;
}>;


export type CodegenDescribeMutation = { updateDashboard: { dashboard: { description: string | null } } | null };


export const CodegenOverviewDocument = {"__meta__":{"hash":"sha256:5581e959035012456df5844c0fe49e0cbd0311e8fc9d774edd5ee79925b3dbe2"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CodegenOverview"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"project"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"project"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"project"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}}]}}]}}]} as unknown as DocumentNode<CodegenOverviewQuery, CodegenOverviewQueryVariables>;
export const CodegenPageDocument = {"__meta__":{"hash":"sha256:51e82d0dde7210954e46ce754718b6adb1554cd50e0b0f4c55f0d5fcbf860b78"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CodegenPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"project"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"project"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"project"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"dashboards"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<CodegenPageQuery, CodegenPageQueryVariables>;
export const CodegenDescribeDocument = {"__meta__":{"hash":"sha256:d674a56d3a2593d8945548431acdcc75ed2bafedcde57c86f4511abb83336653"},"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CodegenDescribe"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateDashboardInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateDashboard"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"dashboard"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"description"}}]}}]}}]}}]} as unknown as DocumentNode<CodegenDescribeMutation, CodegenDescribeMutationVariables>;