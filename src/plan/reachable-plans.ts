import { keyedConnection } from '../graphql/connections.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { Reach } from '../rest/reach.ts';
import { keyed } from './objects.ts';
import { type Arguments, type PlanBuilder, pathOf } from './plan-builder.ts';
import type { Stage } from './schedule.ts';

const start: Stage = { wave: 0, earlier: undefined };

/** Plans the list of projects of a narrowed tenant: each is found by its key, and nothing else of the list is read. */
export function planReachable(builder: PlanBuilder, selected: SelectedField, { projects }: Reach): void {
  builder.withArguments(selected, (args) => {
    const { page } = keyedConnection(builder.options, { noun: 'Project', scope: '' }, [...projects], boundsOf(args));
    const ids = page.rows.map(({ id }) => String(id));
    for (const { nodes, path } of placesOf(builder, selected)) {
      for (const id of ids) {
        const objects = keyed({ noun: 'Project', scope: '', id }, start, true);
        builder.plan({ objects, nodes, path, known: 'unknown' });
      }
    }
  });
}

function boundsOf(args: Arguments): Parameters<typeof keyedConnection>[3] {
  return {
    first: args.number('first'),
    last: args.number('last'),
    after: args.text('after'),
    before: args.text('before'),
  };
}

/** Where the connection answers projects: in `nodes`, and in the `node` of `edges`. */
function placesOf(builder: PlanBuilder, selected: SelectedField): { nodes: SelectedField['nodes']; path: string }[] {
  const connection = builder.answerOf(selected);
  if (connection === undefined) return [];
  return builder.fields(connection, selected).flatMap((field) => {
    const type = builder.answerOf(field);
    const path = pathOf(selected.responseKey, field);
    if (type?.name === 'Project') return [{ nodes: field.nodes, path }];
    if (type === undefined) return [];
    const inner = builder.fields(type, field).filter((one) => builder.answerOf(one)?.name === 'Project');
    return inner.map((node) => ({ nodes: node.nodes, path: pathOf(path, node) }));
  });
}
