import type { GraphQLObjectType } from 'graphql';
import { pageSizeOf, readingOf, type Stretch, stretchOf } from '../graphql/connections.ts';
import { isEventFilter, toEventQuery } from '../graphql/event-filter.ts';
import { listView } from '../loaders/row-store.ts';
import { wantedOf } from '../look-ahead/needs.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { ListRef } from '../rest/pages.ts';
import { overlapOf, type Position } from '../rest/positions.ts';
import { type Arguments, pathOf } from './draft.ts';
import { planScopeOfList } from './id-scopes.ts';
import { after, type Moment } from './moments.ts';
import { isOwnerKnown, toObjects } from './objects.ts';
import { collectionOf, ownersOf, type Step } from './step.ts';

/** Where a connection reads: windows of equal `list` share pages. */
interface Spot {
  readonly stretch: Stretch;
  readonly list: string;
  /** At how many owners the list is read. */
  readonly owners: number;
  /** How many rows of the page before are read again. */
  readonly overlap?: number;
}

/** Plans a connection: the pages that it reads, and what is selected on their rows. */
export function planList(step: Step, args: Arguments): void {
  const { draft, selected, endpoint } = step;
  const type = draft.answerOf(selected);
  if (type === undefined) return;
  planScopeOfList(step);
  const spot = endpoint.kind === 'Event' ? eventSpot(step, args) : spotOf(step, args);
  const fields = draft.fields(type, selected);
  const reading = readingOf(spot.stretch, wantedOf(fields));
  if (reading.kind === 'any') return want(step, spot, { offset: 0, limit: 1, countOnly: true }, () => undefined);
  if (reading.kind === 'window') {
    return want(step, spot, reading, (come) => planRows(step, type, spot, reading.offset, come));
  }
  // The first page comes first; where the list does not end in it, the count says where its end is.
  const first = { offset: reading.from, limit: draft.options.maxPageSize };
  draft.lists.addJump(collectionOf(step));
  want(step, spot, first, (come) => {
    const { list, owners } = spot;
    const { kind } = endpoint;
    draft.lists.wantEnd({
      kind,
      list,
      owners,
      offset: first.offset,
      limit: reading.limit,
      moment: come,
      path: step.path,
    });
    planRows(step, type, spot, undefined, after(come));
  });
}

function want(
  step: Step,
  { list, owners, overlap = 0 }: Spot,
  {
    offset,
    limit,
    countOnly = false,
  }: { readonly offset: number; readonly limit: number; readonly countOnly?: boolean },
  done: (come: Moment) => void,
): void {
  const { draft, endpoint, moment, certain, path } = step;
  const collection = collectionOf(step);
  const { kind } = endpoint;
  const isKnown = isOwnerKnown(step.parent);
  const window = { list, owners, offset, limit, overlap, countOnly };
  draft.lists.want({ kind, collection, isKnown, ...window, certain, moment, path, done });
}

/** Plans what is selected on the rows of a page; without an offset they are the last of their list. */
function planRows(
  { draft, selected, endpoint: { kind }, parent, path }: Step,
  connection: GraphQLObjectType,
  { stretch: { limit }, list, owners }: Spot,
  offset: number | undefined,
  moment: Moment,
): void {
  if (limit === 0) return;
  const [group, from] = offset === undefined ? [`the end of ${list}`, 0] : [list, offset];
  const parts = { type: kind, group, from, to: from + limit, owner: parent, owners, view: listView(kind), moment };
  const objects = toObjects(parts);
  for (const field of draft.fields(connection, selected)) {
    const type = draft.answerOf(field);
    const place = pathOf(path, field);
    if (type?.name === kind) draft.plan({ objects, nodes: field.nodes, path: place, known: 'listed' });
    else if (type !== undefined) planEdges(type, field, place);
  }

  function planEdges(type: GraphQLObjectType, edges: SelectedField, place: string): void {
    for (const node of draft.fields(type, edges)) {
      if (draft.answerOf(node)?.name !== kind) continue;
      draft.plan({ objects, nodes: node.nodes, path: pathOf(place, node), known: 'listed' });
    }
  }
}

/** A list that is walked by offset. */
function spotOf(step: Step, args: Arguments): Spot {
  const { cursors, maxPageSize } = step.draft.options;
  const list = listOf(step);
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
  const stretch = stretchOf(bounds, offsetBehind, maxPageSize);
  return { stretch, ...sharing(step, '', cursorOfUnknown) };
}

/** A list of events: forward only, and by time. */
function eventSpot(step: Step, args: Arguments): Spot {
  const { cursors, maxPageSize } = step.draft.options;
  const given = args.all['filter'];
  const filter = toEventQuery(isEventFilter(given) ? given : undefined);
  const limit = pageSizeOf('first', args.number('first'), maxPageSize);
  const list = listOf(step);
  const cursor = args.text('after');
  const isKnown = list !== undefined && cursor !== undefined;
  const at: Position = isKnown ? cursors.decode({ ...list, filter }, cursor, 'after') : { offset: 0 };
  const { offset, ...instant } = at;
  // Where rows may be left out because they were answered before, offsets do not count the page's rows.
  const text = JSON.stringify([filter, at.boundary === undefined ? instant : [instant, offset]]);
  const stretch: Stretch = { kind: 'window', offset, limit };
  // A cursor of a list that is not known yet may hold as many ids as fit in.
  const isUnknown = list === undefined && cursor !== undefined;
  const overlap = isUnknown ? maxPageSize : overlapOf(at, Math.max(limit, 1), maxPageSize);
  return { stretch, overlap, ...sharing(step, text === plain ? '' : text, list === undefined ? cursor : undefined) };
}

/** Neither a filter nor an instant. */
const plain = JSON.stringify([{}, {}]);

/**
 * A cursor of a list whose owner is not known fits one of the lists at most, unless it was made below `@current`; the
 * others refuse it.
 */
function sharing(step: Step, list: string, cursor: string | undefined): Pick<Spot, 'list' | 'owners'> {
  const collection = collectionOf(step);
  if (cursor === undefined) return { list: list === '' ? collection : `${collection} ${list}`, owners: ownersOf(step) };
  const isAny = step.draft.options.cursors.isOfCurrent(cursor);
  return { list: `${collection} ${list} ${cursor}`, owners: isAny ? ownersOf(step) : 1 };
}

/** The list itself, where its owner is known. */
function listOf({ endpoint: { kind }, parent }: Step): ListRef | undefined {
  if (parent === undefined) return { kind, scope: '' };
  return parent.id === undefined ? undefined : { kind, scope: parent.id };
}
