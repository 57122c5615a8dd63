import { projectOf } from './auth.ts';
import { type Answer, type Call, ok } from './call.ts';
import { toCsv } from './csv.ts';
import { invalid, notFound, required } from './errors.ts';
import { type EventFilter, toPropertyFilter } from './event-filters.ts';
import { type EventRow, type EventSearch, findEvents } from './event-rows.ts';
import { toExpression } from './expressions.ts';
import { arrayOf, type JsonObject, memberOf } from './json.ts';
import { windowOf } from './pages.ts';
import { toMicroseconds } from './timestamps.ts';

/** Largest page, applied silently. */
const maximumLimit = 1000;

/** GET /api/projects/{project_id}/events/ */
export function listEvents(call: Call): Answer {
  const { limit, offset } = windowOf(call, maximumLimit);
  const passes = toFilter(call.query);
  const toRow = toSelection(call.query);
  const all = findEvents(call.store.database, projectOf(call).id, toSearch(call.query));
  const [...found] = all
    .filter(passes)
    .drop(offset)
    .take(limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const next = last !== undefined && found.length > limit ? linkBefore(call.url, last.timestamp) : null;
  return answerAs(call, page.map(toRow), (results) => ({ next, results }));
}

/** GET /api/projects/{project_id}/events/{id}/ */
export function getEvent(call: Call): Answer {
  const [event] = findEvents(call.store.database, projectOf(call).id, { id: String(call.params.id) });
  if (event === undefined) throw notFound();
  return answerAs(call, [event], () => event);
}

/** GET /api/projects/{project_id}/events/values/, the most frequent value first. */
export function listEventValues(call: Call): Answer {
  const { key, event_name: event } = call.query;
  if (typeof key !== 'string' || key === '') throw required('key');
  const events = findEvents(call.store.database, projectOf(call).id, { event: textOf(event) });
  const values = events.map(({ properties }) => memberOf(properties, key)).filter((value) => value !== null);
  const equal = Map.groupBy(values, (value) => JSON.stringify(value));
  const names = [...equal.values()].toSorted((one, other) => other.length - one.length).map(([name]) => ({ name }));
  return answerAs(call, names, (results) => results);
}

function toSearch(query: JsonObject): EventSearch {
  return {
    after: timeOf(query, 'after'),
    before: timeOf(query, 'before'),
    event: textOf(query.event),
    distinctId: textOf(query.distinct_id),
    personId: textOf(query.person_id),
  };
}

function timeOf(query: JsonObject, name: string): number | undefined {
  const text = textOf(query[name]);
  if (text === undefined) return undefined;
  const time = toMicroseconds(text);
  if (time === undefined) throw invalid(name, 'Not a valid date-time.');
  return time;
}

/** An empty parameter filters nothing. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toFilter({ properties, where }: JsonObject): EventFilter {
  const hasProperties = toPropertyFilter(properties);
  const conditions = arrayOf(where).map((text) => toExpression(String(text), 'where'));
  return (event) => hasProperties(event) && conditions.every((condition) => condition(event) === true);
}

/** With `select`, rows are arrays in JSON, and named values in CSV. */
function toSelection({ select, format }: JsonObject): (event: EventRow) => unknown {
  const texts = arrayOf(select).map(String);
  if (texts.length === 0) return (event) => event;
  const columns = texts.map((text) => ({ text, valueOf: toExpression(text, 'select') }));
  return (event) => {
    const cells = columns.map(({ text, valueOf }) => [text, valueOf(event)] as const);
    return format === 'csv' ? Object.fromEntries(cells) : cells.map(([, value]) => value);
  };
}

/** Keeps the whole query, an offset too, as the known deployment does. */
function linkBefore(url: URL, timestamp: string): string {
  const link = new URL(url);
  link.searchParams.set('before', timestamp);
  return link.href;
}

function answerAs({ query }: Call, rows: readonly unknown[], toJson: (rows: readonly unknown[]) => unknown): Answer {
  return ok(query.format === 'csv' ? toCsv(rows) : toJson(rows));
}
