import { projectOf } from '../auth.ts';
import { type Answer, type Call, ok } from '../call.ts';
import { toCsv } from '../csv.ts';
import { invalid, notFound, queryTooLong, required } from '../errors.ts';
import { toColumn } from '../expressions/expression.ts';
import { arrayOf, type JsonObject, memberOf } from '../json.ts';
import { linkTo, type Window, windowOf } from '../pages.ts';
import { toMicroseconds } from '../timestamps.ts';
import { type EventFilter, toCondition, toPropertyFilter } from './property-filters.ts';
import { type EventRow, type EventSearch, findEvents } from './rows.ts';

/** Largest page, applied silently. */
const maximumLimit = 1000;

/** GET /api/projects/{project_id}/events/ */
export function listEvents(call: Call): Answer {
  const window = windowOf(call, maximumLimit);
  const project = projectOf(call);
  const passes = toFilter(call, project.id);
  const toRow = toSelection(call.query);
  const all = findEvents(call.store, project.id, toSearch(call.query));
  const [...found] = within(call.searchTimeMs, all, passes)
    .drop(window.offset)
    .take(window.limit + 1)
    .map((event) => ({ event, row: toRow(event) }));
  const page = found.slice(0, window.limit);
  const last = page.at(-1)?.event;
  const next = last !== undefined && found.length > window.limit ? linkAfter(call, window, last) : null;
  const rows = page.map(({ row }) => row);
  return answerAs(call, rows, (results) => ({ next, results }));
}

/** The events that pass. Throws when reading them has taken too long: matching is linear, but there may be much of it. */
function* within(milliseconds: number, events: Iterable<EventRow>, passes: EventFilter): Generator<EventRow> {
  const end = performance.now() + milliseconds;
  for (const event of events) {
    if (performance.now() > end) throw queryTooLong();
    if (passes(event)) yield event;
  }
}

/** GET /api/projects/{project_id}/events/{id}/ */
export function getEvent(call: Call): Answer {
  const [event] = findEvents(call.store, projectOf(call).id, { id: String(call.params.id) });
  if (event === undefined) throw notFound();
  return answerAs(call, [event], () => event);
}

/** GET /api/projects/{project_id}/events/values/, the most frequent value first. */
export function listEventValues(call: Call): Answer {
  const { key, event_name: event } = call.query;
  if (typeof key !== 'string' || key === '') throw required('key');
  const events = findEvents(call.store, projectOf(call).id, { event: textOf(event) });
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

function toFilter({ store, query }: Call, projectId: number): EventFilter {
  const hasProperties = toPropertyFilter({ store, projectId }, query.properties);
  const conditions = arrayOf(query.where).map((text) => toCondition(String(text), 'where'));
  return (event) => hasProperties(event) && conditions.every((holds) => holds(event));
}

/** With `select`, rows are arrays in JSON, and named values in CSV. */
function toSelection({ select, format }: JsonObject): (event: EventRow) => unknown {
  const columns = arrayOf(select).map((text) => toColumn(String(text), 'select'));
  if (columns.length === 0) return (event) => event;
  return (event) => {
    const cells = columns.map(({ name, valueOf }) => [name, valueOf(event)] as const);
    return format === 'csv' ? Object.fromEntries(cells) : cells.map(([, value]) => value);
  };
}

/** The page behind `last`. With `before`, the whole query is kept, an offset too, as the known deployment does. */
function linkAfter({ url, eventsNext }: Call, { limit, offset }: Window, last: EventRow): string {
  if (eventsNext === 'offset') return linkTo(url, limit, offset + limit);
  const link = new URL(url);
  link.searchParams.set('before', last.timestamp);
  return link.href;
}

function answerAs({ query }: Call, rows: readonly unknown[], toJson: (rows: readonly unknown[]) => unknown): Answer {
  return ok(query.format === 'csv' ? toCsv(rows) : toJson(rows));
}
