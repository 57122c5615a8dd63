import { sortableMoment } from '../../src/rest/instants.ts';
import { textAt } from './connections.ts';
import type { JsonObject } from './replies.ts';
import type { Handler } from './routes.ts';
import { event } from './rows.ts';

/** Differences of the events endpoint of a scripted upstream. */
export interface EventsOptions {
  /** Largest page, whatever `limit` says. */
  readonly cap?: number;
  /** Answers rows of one moment in another order each time, as a database without a second sort key may. */
  readonly shuffled?: boolean;
}

/** Events newest first: `before` ones, then `tied` at one moment in the spellings given, then `behind` ones. */
export function tiedEvents(before: number, tied: number, behind: number, spellings = [tieTime]): JsonObject[] {
  const times = [
    ...Array.from({ length: before }, (_, index) => `2024-05-01T10:00:${59 - index}.000001+00:00`),
    ...Array.from({ length: tied }, (_, index) => spellings[index % spellings.length] ?? tieTime),
    ...Array.from({ length: behind }, (_, index) => `2024-05-01T09:00:${59 - index}.999999Z`),
  ];
  return times.map((timestamp, index) => event(index + 1, { timestamp }));
}

/** The moment of the tied ones. */
export const tieTime = '2024-05-01T09:30:00.123456+00:00';

const moments = new Map<unknown, string>();

/** The moment of a date-time, which is worked out once: lists look at that of each row with each request. */
export function momentOf(time: unknown): string {
  const known = moments.get(time) ?? sortableMoment(time) ?? '';
  moments.set(time, known);
  return known;
}

/**
 * Events by keyset, to the microsecond: `before` and `after` leave out their own moments, and `next` names the time of the
 * page's last row and keeps the rest of the query, the offset too. `rows` are read at each request.
 */
export function keyset(rows: readonly JsonObject[], { cap = 1000, shuffled = false }: EventsOptions = {}): Handler {
  let round = 0;
  return ({ query, target, headers }) => {
    const [before, after] = [query.get('before'), query.get('after')];
    round += 1;
    const list = shuffled ? rotateTies(rows, round) : rows;
    const between = list.filter(
      ({ timestamp }) =>
        (before === null || momentOf(timestamp) < momentOf(before)) &&
        (after === null || momentOf(timestamp) > momentOf(after)),
    );
    const offset = Number(query.get('offset') ?? 0);
    const end = offset + Math.min(Number(query.get('limit')), cap);
    const results = between.slice(offset, end);
    if (end >= between.length || results.length === 0) return { next: null, results };
    const next = new URL(target, `http://${headers.host}`);
    next.searchParams.set('before', textAt(results, results.length - 1, 'timestamp'));
    return { next: next.href, results };
  };
}

function rotateTies(rows: readonly JsonObject[], by: number): readonly JsonObject[] {
  return [...Map.groupBy(rows, ({ timestamp }) => timestamp).values()].flatMap((tied) => {
    const from = by % tied.length;
    return [...tied.slice(from), ...tied.slice(0, from)];
  });
}
