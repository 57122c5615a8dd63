import type { Resolvers } from '../graphql/generated/resolvers.ts';
import { DateTime, JSONValue, TimeZone, UUID } from '../graphql/scalars.ts';
import { Dashboard, dashboardMutations } from './dashboard.ts';
import { Event, EventRowsPage, EventsCsvPage, EventValue, EventValues } from './event.ts';
import { Connection, CountedConnection, Edge } from './list-fields.ts';
import { Organization } from './organization.ts';
import {
  ActionPayload,
  Plugin,
  PluginActivity,
  PluginActivityEntry,
  PluginRepositoryEntry,
  PluginSource,
  pluginMutations,
  SourcePayload,
} from './plugin.ts';
import { Project, projectMutations } from './project.ts';
import { Query } from './query.ts';
import { EventsAdded, Subscription } from './subscription.ts';

const mutations: Resolvers['Mutation'] & object = { ...projectMutations, ...dashboardMutations, ...pluginMutations };

/** The names of all mutations. */
export const mutationNames: readonly string[] = Object.keys(mutations);

/** The resolvers of all fields that are not columns of a row. `buildSchema` wraps some of them. */
export const resolvers: Resolvers = {
  DateTime,
  JSON: JSONValue,
  TimeZone,
  UUID,
  Node: { __resolveType: ({ noun }) => noun },
  Query,
  Mutation: mutations,
  Subscription,
  EventsAdded,
  Project,
  Dashboard,
  Event,
  EventsCsvPage,
  EventRowsPage,
  EventValues,
  EventValue,
  Plugin,
  Organization,
  PluginSource,
  PluginActivity,
  PluginActivityEntry,
  PluginRepositoryEntry,
  UpdatePluginSourcePayload: SourcePayload,
  UpgradePluginPayload: ActionPayload,
  CheckPluginForUpdatesPayload: ActionPayload,
  ProjectConnection: CountedConnection,
  DashboardConnection: CountedConnection,
  PluginConnection: CountedConnection,
  EventConnection: Connection,
  ProjectEdge: Edge,
  DashboardEdge: Edge,
  PluginEdge: Edge,
  EventEdge: Edge,
};
