import { connectionOfIds, type ListRange, pageSizeOf, rangeOf, rangeToRead } from '../graphql/connections.ts';
import { toEventQuery } from '../graphql/event-filter.ts';
import { listView } from '../loaders/row-store.ts';
import { answersOwnerIds, wantedOf } from '../look-ahead/needs.ts';
import { type ObjectSelection, type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Noun } from '../rest/nouns.ts';
import type { ListRef } from '../rest/pages.ts';
import { overlapOf, type Position } from '../rest/positions.ts';
import type { Reach } from '../rest/reach.ts';
import {
  after,
  collectionAt,
  collectionText,
  isCurrent,
  mostOf,
  objectByKey,
  pathOf,
  type SelectedObjects,
  type Stage,
  start,
  toObjects,
} from './objects.ts';
import type { Arguments, PlanBuilder, PlannedField } from './plan-builder.ts';

interface WantedRange {
  readonly range: ListRange;
  /** The same text for windows that may share pages. */
  readonly list: string;
  /** The number of rows of earlier pages that this page reads again. */
  readonly overlap: number;
}

/** Plans a connection. Agrees with `fetchConnection` and `fetchEvents` (`graphql/connections.ts`). */
export function planList(planned: PlannedField, args: Arguments): void {
  const { builder, selected, endpoint } = planned;
  const { inside } = selected;
  if (inside === undefined) return;
  planOwnerOfList(planned, inside);
  const wanted = endpoint.noun === 'Event' ? eventRange(planned, args) : offsetRange(planned, args);
  const toRead = rangeToRead(wanted.range, wantedOf(inside));
  const { lists, options } = builder;
  const { list, overlap } = wanted;
  const { parent, certain, stage, path } = planned;
  const owned = { ...collectionAt(endpoint.noun, parent), ownerCount: mostOf(parent) };
  const window = { ...owned, list, overlap, certain, stage, path };
  if (toRead.kind === 'any') return lists.want({ ...window, offset: 0, limit: 1, countOnly: true });
  if (toRead.kind === 'window') {
    const { offset, limit } = toRead;
    return lists.want({ ...window, offset, limit, onArrival: (arrival) => planRows(planned, wanted, offset, arrival) });
  }
  // If the list is longer than its first page, the count in that page tells where the list ends.
  const { from: offset, limit } = toRead;
  const onArrival = (arrival: Stage): void => {
    lists.wantEnd({ ...window, offset, limit, stage: arrival });
    planRows(planned, wanted, undefined, after(arrival));
  };
  lists.want({ ...window, offset, limit: options.maxPageSize, onArrival }, 2);
}

/** Plans the selection on the rows of a page. Without an offset, these are the last rows of the list. */
function planRows(
  planned: PlannedField,
  { range: { limit }, list }: WantedRange,
  offset: number | undefined,
  stage: Stage,
): void {
  if (limit === 0) return;
  const { builder, selected, endpoint, parent, path } = planned;
  const { noun } = endpoint;
  const ownerCount = mostOf(parent);
  const [group, from] = offset === undefined ? [`the end of ${list}`, 0] : [list, offset];
  const to = from + limit;
  const objects = toObjects({ type: noun, group, from, to, owner: parent, ownerCount, view: listView(noun), stage });
  for (const rows of rowsOf(selected, noun, path)) builder.plan({ ...rows, objects, existence: 'listed' });
}

/** The selections on the rows of a connection or message: in `nodes`, and in the `node` of `edges`. */
export function rowsOf(
  { inside }: SelectedField,
  noun: Noun,
  parentPath: string,
): readonly Pick<SelectedObjects, 'selection' | 'path'>[] {
  return (inside?.fields ?? []).flatMap((selected) => {
    const path = pathOf(parentPath, selected);
    if (selected.inside?.type.name === noun) return [{ selection: selected.below, path }];
    return rowsOf(selected, noun, path);
  });
}

/** Plans the list of projects of a caller with limited reach. Each project is read by its key in place of the list. */
export function planReachable(builder: PlanBuilder, selected: SelectedField, { projects }: Reach): void {
  builder.withArguments(selected, (args) => {
    const { page } = connectionOfIds(builder.options, { noun: 'Project', scope: '' }, [...projects], args);
    const ids = page.rows.map(({ id }) => String(id));
    for (const rows of rowsOf(selected, 'Project', selected.responseKey)) {
      for (const id of ids) {
        const objects = objectByKey({ type: 'Project', scope: '', id }, start, true);
        builder.plan({ ...rows, objects, existence: 'unknown' });
      }
    }
  });
}

/**
 * The range of a list that is read by offset. If the owner of the list is unknown, no cursor can be read. The plan then
 * assumes that each cursor fits the list of every owner, and leaves out no row.
 */
function offsetRange(planned: PlannedField, args: Arguments): WantedRange {
  const { cursors, maxPageSize } = planned.builder.options;
  const list = listOf(planned);
  let text = collectionText(planned.endpoint.noun, planned.parent);
  const offsetBehind = (argument: 'after' | 'before', cursor: string): number => {
    if (list !== undefined) return cursors.decode(list, cursor, argument).offset;
    text += ` ${argument} ${cursor}`;
    return argument === 'after' ? 0 : Number.MAX_SAFE_INTEGER;
  };
  const range = rangeOf(args, offsetBehind, maxPageSize);
  return { range, overlap: 0, list: text };
}

/** The range of a list of events, which is read forwards and by time. */
function eventRange(planned: PlannedField, args: Arguments): WantedRange {
  const { cursors, maxPageSize } = planned.builder.options;
  const collection = collectionText(planned.endpoint.noun, planned.parent);
  const filter = toEventQuery(args.filter);
  const limit = pageSizeOf('first', args.first, maxPageSize);
  const list = listOf(planned);
  const cursor = args.after ?? undefined;
  if (cursor !== undefined && list === undefined) {
    const range: ListRange = { kind: 'window', offset: 0, limit };
    // The plan assumes the most: the page reads `maxPageSize` rows, because rows of earlier pages fill it up.
    return { range, overlap: maxPageSize, list: `${collection} ${JSON.stringify(filter)} ${cursor}` };
  }
  const isGiven = cursor !== undefined && list !== undefined;
  const at: Position = isGiven ? cursors.decode({ ...list, filter }, cursor, 'after') : { offset: 0 };
  const { offset, ...instant } = at;
  // A page behind a `boundary` leaves out rows of earlier pages. So windows of different offsets cannot share it.
  const text = JSON.stringify([filter, at.boundary === undefined ? instant : [instant, offset]]);
  const overlap = overlapOf(at, Math.max(limit, 1), maxPageSize);
  const range: ListRange = { kind: 'window', offset, limit };
  return { range, overlap, list: text === plain ? collection : `${collection} ${text}` };
}

/** The text of a window without filter and instant. */
const plain = JSON.stringify([{}, {}]);

function listOf({ endpoint: { noun }, parent }: PlannedField): ListRef | undefined {
  if (parent === undefined) return { noun, scope: '' };
  return parent.id === undefined ? undefined : { noun, scope: parent.id };
}

/** Plans the read of the current project at the stage of the page, because the global ids of rows contain its id. */
function planOwnerOfList(
  { builder, endpoint, parent, stage, certain, path }: PlannedField,
  page: ObjectSelection,
): void {
  if (!isCurrent(parent) || endpoint.noun === 'Plugin') return;
  if (answersOwnerIds(page)) builder.planCurrent({ stage, certain, path });
}
