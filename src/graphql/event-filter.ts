import type { EventQuery } from '../rest/pages.ts';
import { isObject } from '../rest/values.ts';
import type { EventFilter } from './generated/resolvers.ts';

/** The query of an event list: lists of conditions are one JSON-encoded parameter each, and nothing given is no filter. */
export function toEventQuery(filter: EventFilter | null | undefined, select?: readonly string[]): EventQuery {
  return {
    after: filter?.occurredAfter ?? undefined,
    before: filter?.occurredBefore ?? undefined,
    distinct_id: filter?.distinctId ?? undefined,
    event: filter?.event ?? undefined,
    person_id: filter?.personId ?? undefined,
    properties: jsonList(filter?.properties),
    select: jsonList(select),
    where: jsonList(filter?.where),
  };
}

/** Whether an argument's value is a filter: the schema has checked its members. */
export function isEventFilter(value: unknown): value is EventFilter {
  return isObject(value);
}

function jsonList(items: readonly unknown[] | null | undefined): string | undefined {
  return items === null || items === undefined || items.length === 0 ? undefined : JSON.stringify(items);
}
