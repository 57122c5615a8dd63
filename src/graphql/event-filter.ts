import type { EventQuery } from '../rest/pages.ts';
import type { EventFilter } from './generated/resolvers.ts';
import { quoted, UserInputError } from './input-error.ts';

/** The arguments that select events, and their query. */
interface KnownQuery {
  readonly filter: EventFilter | null | undefined;
  readonly select: readonly string[] | null | undefined;
  readonly query: EventQuery;
}

/** The queries of filters. A filter may be an argument of thousands of objects, and is written out only once. */
const known = new WeakMap<object, KnownQuery>();
const nothing = {};

/** The query of an event list. Each list of conditions is one JSON-encoded parameter. Empty arguments filter nothing. */
export function toEventQuery(filter: EventFilter | null | undefined, select?: readonly string[] | null): EventQuery {
  const key = select ?? filter ?? nothing;
  const last = known.get(key);
  if (last !== undefined && last.filter === filter && last.select === select) return last.query;
  const query = createEventQuery(filter, select);
  known.set(key, { filter, select, query });
  return query;
}

function isEmpty(items: readonly unknown[] | null | undefined): boolean {
  return items === null || items === undefined || items.length === 0;
}

function createEventQuery(filter: EventFilter | null | undefined, select?: readonly string[] | null): EventQuery {
  return {
    after: filter?.occurredAfter ?? undefined,
    before: filter?.occurredBefore ?? undefined,
    distinct_id: queryText('distinctId', filter?.distinctId),
    event: queryText('event', filter?.event),
    person_id: queryText('personId', filter?.personId),
    properties: jsonList(filter?.properties),
    select: jsonList(select),
    where: jsonList(filter?.where),
  };
}

/** The text of a query parameter. Half a surrogate pair is refused: only JSON has a form for it. */
export function queryText(argument: string, text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  if (text.isWellFormed()) return text;
  throw new UserInputError(`Expected \`${argument}\` to be Unicode text, but got ${quoted(text)}.`);
}

function jsonList(items: readonly unknown[] | null | undefined): string | undefined {
  return isEmpty(items) ? undefined : JSON.stringify(items);
}
