import type { Draft } from './draft.ts';
import type { Moment } from './moments.ts';
import { currentProject, isCurrent } from './objects.ts';
import type { Place } from './place.ts';
import type { Step } from './step.ts';

// What `resolvers/id-scopes.ts` reads, so that global ids name real projects and organizations.

/** Where something asks what `@current` stands for. */
interface Asking {
  readonly moment: Moment;
  readonly certain: boolean;
  readonly path: string;
}

/** Plans the read of the project that tells what `@current` stands for: one for an operation. */
export function planCurrent(
  draft: Draft,
  { moment, certain, path }: Asking,
  done: (come: Moment) => void = () => undefined,
): void {
  draft.rows.want({ kind: 'Project', objects: currentProject(moment, certain), view: 'list', path, done });
}

/** Plans the scope of the ids of listed rows below `@current`, which is read beside their page. */
export function planScopeOfList({ draft, selected, endpoint, parent, moment, certain, path }: Step): void {
  const type = draft.answerOf(selected);
  if (!isCurrent(parent) || endpoint.kind === 'Plugin' || type === undefined) return;
  if (draft.answersScopes(type, selected.nodes)) planCurrent(draft, { moment, certain, path });
}

/** Plans the scope of the ids of objects below `@current`, each found by its key. */
export function planScope(draft: Draft, { objects, nodes, path }: Place): void {
  const { owner, type, moment, certain } = objects;
  if (!isCurrent(owner) || !draft.needs(draft.type(type), nodes).globalId) return;
  planCurrent(draft, { moment, certain, path });
}

/** Plans the scope of the ids of plugins below `@current`, whose rows tell it mostly, once these have come. */
export function planScopeOfPlugins(draft: Draft, { objects, nodes, path }: Place, moment: Moment): void {
  if (!isCurrent(objects.owner) || !draft.needs(draft.type('Plugin'), nodes).globalId) return;
  planCurrent(draft, { moment, certain: false, path });
}
