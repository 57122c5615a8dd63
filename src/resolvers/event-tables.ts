import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { queryText } from '../graphql/event-filter.ts';
import type {
  EventRowsPageResolvers,
  EventsCsvPageResolvers,
  EventValueResolvers,
  EventValuesResolvers,
} from '../graphql/generated/resolvers.ts';
import { parseIdWithin } from '../graphql/ids.ts';
import { itemsIn } from '../graphql/plugin-results.ts';
import type { CsvPageSource, ReportSource, RowRecord, RowsPageSource, TableSource } from '../graphql/records.ts';
import { type TableArguments, tableWindowOf } from '../graphql/table-arguments.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import type { ValuesQuery } from '../rest/api.ts';
import { isNotFound } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';
import { confirmScope } from './current-scope.ts';

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

/** A page of a list as CSV. */
export async function fetchEventsCsv(
  list: ListRef,
  args: TableArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<CsvPageSource> {
  countAnswered(1, context, info);
  const { at, limit } = tableWindowOf(list, args, context);
  return { list, page: await context.loaders.reports.fetchCsv(list, at, limit) };
}

/** A page with the result of `select` for each row of a list. */
export async function fetchEventRows(
  list: ListRef,
  args: TableArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowsPageSource> {
  countAnswered(1, context, info);
  const { at, limit } = tableWindowOf(list, args, context);
  return { list, page: await context.loaders.reports.fetchSelected(list, at, limit) };
}

/** One event as CSV, by its upstream id or its global one; null if there is none. */
export async function fetchEventCsv(list: ListRef, id: string, context: GatewayContext): Promise<string | null> {
  context.answer.addValue();
  const key = parseIdWithin(list, id, 'id');
  if (key.scope !== list.scope) await confirmScope(key, 'id', context);
  return context.loaders.reports.fetchEventCsv(key).catch((error: unknown) => {
    if (isNotFound(error)) return null;
    throw error;
  });
}

/** The arguments that select values, as the schema names them. */
interface ValuesArguments {
  readonly key?: string | null | undefined;
  readonly eventName?: string | null | undefined;
}

/** The values of a property in events of a project. */
export async function fetchEventValues(
  project: RowRecord,
  args: ValuesArguments,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<ReportSource> {
  countAnswered(1, context, info);
  return { body: await context.loaders.reports.fetchEventValues(project.key.id, toValuesQuery(args)) };
}

/** The values of a property in events of a project, as CSV. */
export async function fetchEventValuesCsv(
  project: RowRecord,
  args: ValuesArguments,
  { loaders, answer }: GatewayContext,
): Promise<string> {
  answer.addValue();
  return loaders.reports.fetchEventValuesCsv(project.key.id, toValuesQuery(args));
}

function toValuesQuery({ key, eventName }: ValuesArguments): ValuesQuery {
  return { key: queryText('key', key), event_name: queryText('eventName', eventName) };
}

function countEndCursor<Content>({ list, page }: TableSource<Content>, context: GatewayContext): string | null {
  if (page.end === undefined) return null;
  const cursor = context.cursors.encode(list, page.end);
  context.answer.addText(cursor);
  return cursor;
}

// The contract shows the answer of `events/values/` as if it were an event. Upstreams answer an array of
// `{"name": …}`, or `{"results": […], "refreshing": …}`.

/** The values of an answer, each an object: any other value is its own `name`. Null for an answer of another shape. */
function eventValuesIn(body: unknown): JsonObject[] | null {
  const items = itemsIn(body);
  return items?.map((item) => (isEntry(item) ? item : { name: item })) ?? null;
}

/** True if the upstream says that it is still looking for values; null if it does not say. */
function refreshingIn(body: unknown): boolean | null {
  const refreshing = isObject(body) ? body['refreshing'] : undefined;
  return typeof refreshing === 'boolean' ? refreshing : null;
}

/** True for an object, unless it is a number that is kept as text. */
function isEntry(item: unknown): item is JsonObject {
  return isObject(item) && exactDigits(item) === undefined;
}
