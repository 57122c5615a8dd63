/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type DashboardsQueryVariables = Exact<{
  projectId: string | number;
  after?: string | null | undefined;
}>;


export type DashboardsQuery = { project: { dashboards: { totalCount: number | null, nodes: Array<{ id: string, name: string | null, description: string | null, pinned: boolean | null, tags: Array<string | null> | null, createdAt: string | null, tiles: Array<unknown> | null, filters: unknown, createdBy: { firstName: string | null, lastName: string | null } | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type DashboardCardFragment = { id: string, name: string | null, description: string | null, pinned: boolean | null, tags: Array<string | null> | null, createdAt: string | null, createdBy: { firstName: string | null, lastName: string | null } | null } & ({ tiles: Array<unknown> | null, filters: unknown } | { tiles?: never, filters?: never });

export type DashboardDetailsFragment = { tiles: Array<unknown> | null, filters: unknown };

export type PinDashboardMutationVariables = Exact<{
  id: string | number;
  pinned: boolean;
}>;


export type PinDashboardMutation = { updateDashboard: { dashboard: { id: string, pinned: boolean | null } } | null };

export type EventsQueryVariables = Exact<{
  projectId: string | number;
  after?: string | null | undefined;
}>;


export type EventsQuery = { project: { events: { nodes: Array<{ id: string, event: string | null, timestamp: string | null, distinctId: string | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type EventRowFragment = { id: string, event: string | null, timestamp: string | null, distinctId: string | null };

export type EventsAddedSubscriptionVariables = Exact<{
  projectId: string | number;
  after?: string | null | undefined;
}>;


export type EventsAddedSubscription = { eventsAdded: { cursor: string, gap: boolean, nodes: Array<{ id: string, event: string | null, timestamp: string | null, distinctId: string | null }> } };

export type ProjectsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ProjectsQuery = { projects: { nodes: Array<{ id: string, upstreamId: string, name: string | null, timezone: string | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ProjectLinkFragment = { id: string, upstreamId: string, name: string | null, timezone: string | null };

export type ProjectHeaderQueryVariables = Exact<{
  id: string | number;
}>;


export type ProjectHeaderQuery = { project: { name: string | null, timezone: string | null, createdAt: string | null, organization: { name: string | null } | null, primaryDashboard: { name: string | null } | null } | null };

export type ProjectFactsFragment = { name: string | null, timezone: string | null, createdAt: string | null } & ({ organization: { name: string | null } | null, primaryDashboard: { name: string | null } | null } | { organization?: never, primaryDashboard?: never });

export type ProjectRelationsFragment = { organization: { name: string | null } | null, primaryDashboard: { name: string | null } | null };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const DashboardDetailsFragmentDoc = new TypedDocumentString(`
    fragment DashboardDetails on Dashboard {
  tiles
  filters
}
    `, {"fragmentName":"DashboardDetails"}) as unknown as TypedDocumentString<DashboardDetailsFragment, unknown>;
export const DashboardCardFragmentDoc = new TypedDocumentString(`
    fragment DashboardCard on Dashboard {
  id
  name
  description
  pinned
  tags
  createdAt
  createdBy {
    firstName
    lastName
  }
  ...DashboardDetails @defer(label: "details")
}
    fragment DashboardDetails on Dashboard {
  tiles
  filters
}`, {"fragmentName":"DashboardCard","deferredFields":{"DashboardDetails":["tiles","filters"]}}) as unknown as TypedDocumentString<DashboardCardFragment, unknown>;
export const EventRowFragmentDoc = new TypedDocumentString(`
    fragment EventRow on Event {
  id
  event
  timestamp
  distinctId
}
    `, {"fragmentName":"EventRow"}) as unknown as TypedDocumentString<EventRowFragment, unknown>;
export const ProjectLinkFragmentDoc = new TypedDocumentString(`
    fragment ProjectLink on Project {
  id
  upstreamId
  name
  timezone
}
    `, {"fragmentName":"ProjectLink"}) as unknown as TypedDocumentString<ProjectLinkFragment, unknown>;
export const ProjectRelationsFragmentDoc = new TypedDocumentString(`
    fragment ProjectRelations on Project {
  organization {
    name
  }
  primaryDashboard {
    name
  }
}
    `, {"fragmentName":"ProjectRelations"}) as unknown as TypedDocumentString<ProjectRelationsFragment, unknown>;
export const ProjectFactsFragmentDoc = new TypedDocumentString(`
    fragment ProjectFacts on Project {
  name
  timezone
  createdAt
  ...ProjectRelations @defer(label: "relations")
}
    fragment ProjectRelations on Project {
  organization {
    name
  }
  primaryDashboard {
    name
  }
}`, {"fragmentName":"ProjectFacts","deferredFields":{"ProjectRelations":["organization","primaryDashboard"]}}) as unknown as TypedDocumentString<ProjectFactsFragment, unknown>;
export const DashboardsDocument = {"__meta__":{"hash":"sha256:2e918a08bc7295b3a333f594be71a7988428f33abc9078f5ed46e13860d8941d"}} as unknown as TypedDocumentString<DashboardsQuery, DashboardsQueryVariables>;
export const PinDashboardDocument = {"__meta__":{"hash":"sha256:39fe3774b44c2ec5463c34400abb1f4315b209cb7e7f377e478b4dbf57358776"}} as unknown as TypedDocumentString<PinDashboardMutation, PinDashboardMutationVariables>;
export const EventsDocument = {"__meta__":{"hash":"sha256:c15b629a26739b1d0573c8d869ae4c4a1385b7920effb75bde9bb128bbb777dd"}} as unknown as TypedDocumentString<EventsQuery, EventsQueryVariables>;
export const EventsAddedDocument = {"__meta__":{"hash":"sha256:958cf4f1cdff70d6047d28023f3b98e90d890fdb14265fc64c5c211635bae89e"}} as unknown as TypedDocumentString<EventsAddedSubscription, EventsAddedSubscriptionVariables>;
export const ProjectsDocument = {"__meta__":{"hash":"sha256:437019eded2e8a641c94bb25d264e862011677411915310c13a47edf41a2dac2"}} as unknown as TypedDocumentString<ProjectsQuery, ProjectsQueryVariables>;
export const ProjectHeaderDocument = {"__meta__":{"hash":"sha256:dad36842bd3b1c9e830c7bc739dec728194c94ee7c4ef7aa7c98fc3bee8e1ca5"}} as unknown as TypedDocumentString<ProjectHeaderQuery, ProjectHeaderQueryVariables>;