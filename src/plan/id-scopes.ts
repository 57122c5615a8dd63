import { currentProject, isCurrent } from './objects.ts';
import type { PlanBuilder } from './plan-builder.ts';
import type { PlannedField } from './planned-field.ts';
import type { Stage } from './schedule.ts';
import type { SelectedObjects } from './selected-objects.ts';

// What `resolvers/id-scopes.ts` reads, so that global ids name real projects and organizations.

/** Where something asks what `@current` stands for. */
interface Asking {
  readonly stage: Stage;
  readonly certain: boolean;
  readonly path: string;
}

/** Plans the read of the project that tells what `@current` stands for: one for an operation. */
export function planCurrent(
  builder: PlanBuilder,
  { stage, certain, path }: Asking,
  done: (arrival: Stage) => void = () => undefined,
): void {
  builder.rows.want({ noun: 'Project', objects: currentProject(stage, certain), view: 'list', path, done });
}

/** Plans the scope of the ids of listed rows below `@current`, which is read beside their page. */
export function planScopeOfList({ builder, selected, endpoint, parent, stage, certain, path }: PlannedField): void {
  const type = builder.answerOf(selected);
  if (!isCurrent(parent) || endpoint.noun === 'Plugin' || type === undefined) return;
  if (builder.answersScopes(type, selected.nodes)) planCurrent(builder, { stage, certain, path });
}

/** Plans the scope of the ids of objects below `@current`, each found by its key. */
export function planScope(builder: PlanBuilder, { objects, nodes, path }: SelectedObjects): void {
  const { owner, type, stage, certain } = objects;
  if (!isCurrent(owner) || !builder.needs(builder.type(type), nodes).globalId) return;
  planCurrent(builder, { stage, certain, path });
}

/** Plans the scope of the ids of plugins below `@current`, whose rows tell it mostly, once these have come. */
export function planScopeOfPlugins(
  builder: PlanBuilder,
  { objects, nodes, path }: SelectedObjects,
  stage: Stage,
): void {
  if (!isCurrent(objects.owner) || !builder.needs(builder.type('Plugin'), nodes).globalId) return;
  planCurrent(builder, { stage, certain: false, path });
}
