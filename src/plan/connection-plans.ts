import type { GraphQLObjectType } from 'graphql';
import { type ListRange, pageSizeOf, rangeOf, readingOf } from '../graphql/connections.ts';
import { isEventFilter, toEventQuery } from '../graphql/event-filter.ts';
import { listView } from '../loaders/row-store.ts';
import { wantedOf } from '../look-ahead/needs.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { ListRef } from '../rest/pages.ts';
import { overlapOf, type Position } from '../rest/positions.ts';
import { planScopeOfList } from './id-scopes.ts';
import { isOwnerKnown, toObjects } from './objects.ts';
import { type Arguments, pathOf } from './plan-builder.ts';
import { collectionOf, ownersOf, type PlannedField } from './planned-field.ts';
import { after, type Stage } from './schedule.ts';

/** Where a connection reads: windows of equal `list` share pages. */
interface Spot {
  readonly range: ListRange;
  readonly list: string;
  /** At how many owners the list is read. */
  readonly owners: number;
  /** How many rows of the page before are read again. */
  readonly overlap?: number;
}

/** Plans a connection: the pages that it reads, and what is selected on their rows. */
export function planList(planned: PlannedField, args: Arguments): void {
  const { builder, selected, endpoint } = planned;
  const type = builder.answerOf(selected);
  if (type === undefined) return;
  planScopeOfList(planned);
  const spot = endpoint.noun === 'Event' ? eventSpot(planned, args) : spotOf(planned, args);
  const fields = builder.fields(type, selected);
  const reading = readingOf(spot.range, wantedOf(fields));
  if (reading.kind === 'any') return want(planned, spot, { offset: 0, limit: 1, countOnly: true }, () => undefined);
  if (reading.kind === 'window') {
    return want(planned, spot, reading, (arrival) => planRows(planned, type, spot, reading.offset, arrival));
  }
  // The first page comes first; where the list does not end in it, the count says where its end is.
  const first = { offset: reading.from, limit: builder.options.maxPageSize };
  builder.lists.addJump(collectionOf(planned));
  want(planned, spot, first, (arrival) => {
    const { list, owners } = spot;
    const { noun } = endpoint;
    builder.lists.wantEnd({
      noun,
      list,
      owners,
      offset: first.offset,
      limit: reading.limit,
      stage: arrival,
      path: planned.path,
    });
    planRows(planned, type, spot, undefined, after(arrival));
  });
}

function want(
  planned: PlannedField,
  { list, owners, overlap = 0 }: Spot,
  {
    offset,
    limit,
    countOnly = false,
  }: { readonly offset: number; readonly limit: number; readonly countOnly?: boolean },
  done: (arrival: Stage) => void,
): void {
  const { builder, endpoint, stage, certain, path } = planned;
  const collection = collectionOf(planned);
  const { noun } = endpoint;
  const isKnown = isOwnerKnown(planned.parent);
  const window = { list, owners, offset, limit, overlap, countOnly };
  builder.lists.want({ noun, collection, isKnown, ...window, certain, stage, path, done });
}

/** Plans what is selected on the rows of a page; without an offset they are the last of their list. */
function planRows(
  { builder, selected, endpoint: { noun }, parent, path }: PlannedField,
  connection: GraphQLObjectType,
  { range: { limit }, list, owners }: Spot,
  offset: number | undefined,
  stage: Stage,
): void {
  if (limit === 0) return;
  const [group, from] = offset === undefined ? [`the end of ${list}`, 0] : [list, offset];
  const parts = { type: noun, group, from, to: from + limit, owner: parent, owners, view: listView(noun), stage };
  const objects = toObjects(parts);
  for (const field of builder.fields(connection, selected)) {
    const type = builder.answerOf(field);
    const place = pathOf(path, field);
    if (type?.name === noun) builder.plan({ objects, nodes: field.nodes, path: place, known: 'listed' });
    else if (type !== undefined) planEdges(type, field, place);
  }

  function planEdges(type: GraphQLObjectType, edges: SelectedField, place: string): void {
    for (const node of builder.fields(type, edges)) {
      if (builder.answerOf(node)?.name !== noun) continue;
      builder.plan({ objects, nodes: node.nodes, path: pathOf(place, node), known: 'listed' });
    }
  }
}

/** A list that is walked by offset. */
function spotOf(planned: PlannedField, args: Arguments): Spot {
  const { cursors, maxPageSize } = planned.builder.options;
  const list = listOf(planned);
  let cursorOfUnknown: string | undefined;
  const offsetBehind = (argument: 'after' | 'before', cursor: string): number => {
    if (list !== undefined) return cursors.decode(list, cursor, argument).offset;
    cursorOfUnknown = `${cursorOfUnknown ?? ''}${argument} ${cursor}`;
    return argument === 'after' ? 0 : Number.MAX_SAFE_INTEGER;
  };
  const bounds = {
    first: args.number('first'),
    last: args.number('last'),
    after: args.text('after'),
    before: args.text('before'),
  };
  const range = rangeOf(bounds, offsetBehind, maxPageSize);
  return { range, ...sharing(planned, '', cursorOfUnknown) };
}

/** A list of events: forward only, and by time. */
function eventSpot(planned: PlannedField, args: Arguments): Spot {
  const { cursors, maxPageSize } = planned.builder.options;
  const given = args.all['filter'];
  const filter = toEventQuery(isEventFilter(given) ? given : undefined);
  const limit = pageSizeOf('first', args.number('first'), maxPageSize);
  const list = listOf(planned);
  const cursor = args.text('after');
  const isKnown = list !== undefined && cursor !== undefined;
  const at: Position = isKnown ? cursors.decode({ ...list, filter }, cursor, 'after') : { offset: 0 };
  const { offset, ...instant } = at;
  // Where rows may be left out because they were answered before, offsets do not count the page's rows.
  const text = JSON.stringify([filter, at.boundary === undefined ? instant : [instant, offset]]);
  const range: ListRange = { kind: 'window', offset, limit };
  // A cursor of a list that is not known yet may hold as many ids as fit in.
  const isUnknown = list === undefined && cursor !== undefined;
  const overlap = isUnknown ? maxPageSize : overlapOf(at, Math.max(limit, 1), maxPageSize);
  return { range, overlap, ...sharing(planned, text === plain ? '' : text, list === undefined ? cursor : undefined) };
}

/** Neither a filter nor an instant. */
const plain = JSON.stringify([{}, {}]);

/**
 * A cursor of a list whose owner is not known fits one of the lists at most, unless it was made below `@current`; the
 * others refuse it.
 */
function sharing(planned: PlannedField, list: string, cursor: string | undefined): Pick<Spot, 'list' | 'owners'> {
  const collection = collectionOf(planned);
  if (cursor === undefined)
    return { list: list === '' ? collection : `${collection} ${list}`, owners: ownersOf(planned) };
  const isAny = planned.builder.options.cursors.isOfCurrent(cursor);
  return { list: `${collection} ${list} ${cursor}`, owners: isAny ? ownersOf(planned) : 1 };
}

/** The list itself, where its owner is known. */
function listOf({ endpoint: { noun }, parent }: PlannedField): ListRef | undefined {
  if (parent === undefined) return { noun, scope: '' };
  return parent.id === undefined ? undefined : { noun, scope: parent.id };
}
