import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { onlyText, toDateTime, toId, toText, toUser } from '../graphql/column-conversions.ts';
import type {
  PluginActivityEntryResolvers,
  PluginActivityResolvers,
  PluginFile,
  PluginRepositoryEntryResolvers,
  PluginSourceResolvers,
} from '../graphql/generated/resolvers.ts';
import { entriesIn, filesIn } from '../graphql/plugin-results.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { nextQueryOf } from '../rest/hostless-links.ts';
import { isObject, naturalNumber } from '../rest/values.ts';

/** The source code of a plugin. */
export const PluginSource: PluginSourceResolvers = {
  files: ({ body }, _args, context, info) => answeredFiles(body, context, info),
};

/** The files in an answer about source code; null if it has none. */
export function answeredFiles(body: unknown, context: GatewayContext, info: GraphQLResolveInfo): PluginFile[] | null {
  const files = filesIn(body);
  if (files !== null) countAnswered(files.length, context, info);
  return files;
}

/** A page of an activity log. */
export const PluginActivity: PluginActivityResolvers = {
  entries: ({ body }, _args, context, info) => {
    const entries = entriesIn(body);
    if (entries !== null) countAnswered(entries.length, context, info);
    return entries;
  },
  hasNextPage: ({ body }) => nextQueryOf(body) !== undefined,
  endCursor: ({ body }, _args, { cursors }) => {
    const query = nextQueryOf(body);
    return query === undefined ? null : cursors.encodeQuery('activity', query);
  },
  totalCount: ({ body }) => (isObject(body) ? naturalNumber(body['total_count']) : null),
};

/** An entry of an activity log. */
export const PluginActivityEntry: PluginActivityEntryResolvers = {
  activity: ({ activity }) => member(activity, toText),
  createdAt: ({ created_at: createdAt }) => member(createdAt, toDateTime),
  user: ({ user }) => member(user, toUser),
  scope: ({ scope }) => member(scope, toText),
  itemId: ({ item_id: itemId }) => member(itemId, toId),
  detail: ({ detail }) => detail,
  body: (entry) => entry,
};

/** A plugin of the repository. */
export const PluginRepositoryEntry: PluginRepositoryEntryResolvers = {
  name: ({ name }) => member(name, toText),
  description: ({ description }) => member(description, toText),
  url: ({ url }) => member(url, onlyText),
  icon: ({ icon }) => member(icon, onlyText),
  maintainer: ({ maintainer }) => member(maintainer, toText),
  latestTag: ({ latest_tag: latestTag }) => member(latestTag, toText),
  body: (entry) => entry,
};

/** A member of an entry as a field answers it; null if the upstream leaves it out. Throws for one of another type. */
function member<T>(value: unknown, convert: (value: unknown) => T | Error): T | null {
  if (value === undefined || value === null) return null;
  const converted = convert(value);
  if (converted instanceof Error) throw converted;
  return converted;
}
