import { memoize } from '../memoize.ts';
import type { EventQuery } from '../rest/pages.ts';
import type { EventFilter } from './generated/resolvers.ts';
import { quoted, UserInputError } from './input-error.ts';

const noFilter: EventFilter = {};
const noSelect: readonly string[] = [];

/** The query of an event list. Empty arguments filter nothing. */
export function toEventQuery(filter?: EventFilter | null, select?: readonly string[] | null): EventQuery {
  return queriesOf(filter ?? noFilter)(select ?? noSelect);
}

/** A filter may be an argument of thousands of objects, so it is converted only once. */
const queriesOf = memoize((filter: EventFilter) =>
  memoize(
    (select: readonly string[]): EventQuery => ({
      after: filter.occurredAfter ?? undefined,
      before: filter.occurredBefore ?? undefined,
      distinct_id: queryText('distinctId', filter.distinctId),
      event: queryText('event', filter.event),
      person_id: queryText('personId', filter.personId),
      properties: jsonList(filter.properties),
      select: jsonList(select),
      where: jsonList(filter.where),
    }),
  ),
);

/** The text of a query parameter. Half a surrogate pair is refused, because a URL cannot contain it. */
export function queryText(argument: string, text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  if (text.isWellFormed()) return text;
  throw new UserInputError(`Expected \`${argument}\` to be Unicode text, but got ${quoted(text)}.`);
}

function jsonList(items: readonly unknown[] | null | undefined): string | undefined {
  return items === null || items === undefined || items.length === 0 ? undefined : JSON.stringify(items);
}
