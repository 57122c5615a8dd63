import { parseOwnerId } from '../graphql/ids.ts';
import { refuseCurrent } from '../graphql/narrowing.ts';
import { listView } from '../loaders/row-store.ts';
import type { Role } from '../look-ahead/roles.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import { rowsOf } from './connection-plans.ts';
import { after, keyed, start, textOf, toObjects } from './objects.ts';
import type { Arguments, PlanBuilder } from './plan-builder.ts';

/**
 * Plans one message of a subscription: the page of a poll, which all followers of the list share, and the selection on
 * its rows. Agrees with `resolvers/subscription.ts`.
 */
export function planMessage(builder: PlanBuilder, fields: readonly SelectedField[]): void {
  for (const selected of fields) {
    const { role } = selected;
    if (role.kind === 'tail') builder.withArguments(selected, (args) => planTail(builder, role, selected, args));
  }
  builder.run();
}

function planTail(
  builder: PlanBuilder,
  { endpoint }: Role & { kind: 'tail' },
  selected: SelectedField,
  args: Arguments,
): void {
  const { reach, options } = builder;
  const { maxPageSize } = options;
  const { responseKey: path } = selected;
  refuseCurrent(reach, args.text('projectId'), 'projectId');
  const id = parseOwnerId('Project', args.text('projectId') ?? '', 'projectId');
  if (!reaches(reach, { noun: 'Project', scope: '', id })) return;
  if (id === current) builder.planCurrent({ stage: start, certain: true, path });
  builder.calls.add({ endpoint, stage: start, lower: 1, upper: 1, rows: maxPageSize, paths: [path] });
  builder.hints.add(
    'One poll every few seconds answers all who follow the same events; a busy project takes further calls.',
  );
  const { noun } = endpoint;
  const owner = keyed({ noun: 'Project', scope: '', id }, start, true);
  const group = `what is added to events of ${textOf(owner)}`;
  const stage = after(start);
  const objects = toObjects({ type: noun, group, to: maxPageSize, owner, owners: 1, view: listView(noun), stage });
  for (const rows of rowsOf(selected, noun, path)) builder.plan({ ...rows, objects, known: 'listed' });
}
