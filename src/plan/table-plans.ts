import { isEventFilter, toEventQuery } from '../graphql/event-filter.ts';
import { tableSizeOf, tableWindowOf } from '../graphql/tables.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Arguments } from './plan-builder.ts';
import type { PlannedField } from './planned-field.ts';
import { planRead } from './reads.ts';

/** Plans a page of events that is answered as one value. */
export function planTable(planned: PlannedField, args: Arguments): void {
  const { builder, selected, parent, certain } = planned;
  const { maxPageSize } = builder.options;
  const [first, after] = [args.number('first'), args.text('after')];
  const list = { ...listOf(args), table: selected.field.name === 'eventsCsv' ? ('csv' as const) : ('rows' as const) };
  const rows = tableSizeOf(first, maxPageSize);
  const scope = parent?.id;
  if (scope === undefined && after !== undefined) {
    // A cursor of a list whose owner is not known fits one of them at most, unless it was made below `@current`.
    const isAny = builder.options.cursors.isOfCurrent(after);
    const fact = JSON.stringify([list, rows, after]);
    return planRead({ ...planned, certain: false }, { fact, rows, ...(!isAny && { atMost: 1 }) });
  }
  const { at } = tableWindowOf({ ...list, scope: scope ?? '' }, { first, after }, builder.options);
  // Rows without a `select` are the page that a connection may read.
  const isPage = list.table === 'rows' && list.filter?.select === undefined;
  planRead({ ...planned, certain: certain && !isPage }, { fact: JSON.stringify([list, rows, at]), rows });
}

function listOf(args: Arguments): Pick<ListRef, 'noun' | 'filter'> {
  const { filter } = args.all;
  return { noun: 'Event', filter: toEventQuery(isEventFilter(filter) ? filter : undefined, args.texts('select')) };
}
