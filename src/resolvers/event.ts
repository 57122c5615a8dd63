import type { GatewayContext } from '../context.ts';
import type {
  EventResolvers,
  EventRowsPageResolvers,
  EventsCsvPageResolvers,
  EventValueResolvers,
  EventValuesResolvers,
} from '../graphql/generated/resolvers.ts';
import { itemsIn } from '../graphql/plugin-results.ts';
import type { TableSource } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';

/** The fields of an event that are no columns. */
export const Event: EventResolvers = {
  project: ({ scope }, _args, context, info) =>
    fetchRecord({ noun: 'Project', scope: '', id: scope }, 'assumed', context, info),
};

/** A page of events as CSV. */
export const EventsCsvPage: EventsCsvPageResolvers = {
  csv: ({ page }) => page.content,
  endCursor: (source, _args, context) => countEndCursor(source, context),
  hasNextPage: ({ page }) => page.hasNext,
};

/** A page of rows as the upstream's query language gives them. */
export const EventRowsPage: EventRowsPageResolvers = {
  rows: ({ page }) => [...page.content],
  endCursor: (source, _args, context) => countEndCursor(source, context),
  hasNextPage: ({ page }) => page.hasNext,
};

/** The values of a property. */
export const EventValues: EventValuesResolvers = {
  values: ({ body }, _args, context, info) => {
    const values = eventValuesIn(body);
    if (values !== null) countAnswered(values.length, context, info);
    return values;
  },
  refreshing: ({ body }) => refreshingIn(body),
};

/** One value of a property. */
export const EventValue: EventValueResolvers = {
  name: ({ name }) => name ?? null,
  body: (value) => value,
};

function countEndCursor<Content>({ list, page }: TableSource<Content>, context: GatewayContext): string | null {
  if (page.end === undefined) return null;
  const cursor = context.cursors.encode(list, page.end);
  context.answerCounter.addText(cursor);
  return cursor;
}

// The OpenAPI document describes the answer of `events/values/` as an event. Upstreams answer an array of
// `{"name": …}`, or `{"results": […], "refreshing": …}`.

/** The values of an answer; null if it has none. A value that is no object becomes `{ name: value }`. */
function eventValuesIn(body: unknown): JsonObject[] | null {
  const items = itemsIn(body);
  return items?.map((item) => (isEntry(item) ? item : { name: item })) ?? null;
}

/** True if the upstream says that it is still looking for values; null if it does not say. */
function refreshingIn(body: unknown): boolean | null {
  const refreshing = isObject(body) ? body['refreshing'] : undefined;
  return typeof refreshing === 'boolean' ? refreshing : null;
}

/** True for a JSON object. False for the object that keeps the exact digits of a number. */
function isEntry(item: unknown): item is JsonObject {
  return isObject(item) && exactDigits(item) === undefined;
}
