import { type FieldNode, type GraphQLResolveInfo, isObjectType } from 'graphql';
import { executedTree } from './operation-trees.ts';
import { type DeferUsage, type SelectedField, type Selection } from './selection-tree.ts';

// Finds the fields that come with the same part of an answer. graphql's executors work this out for themselves
// (`collectFields` and `buildExecutionPlan`), but do not tell resolvers.

/** All nodes of the field that is being executed, from all parts. */
export function nodesOf(info: GraphQLResolveInfo): readonly FieldNode[] {
  return fieldAt(info.path, info).nodes;
}

/**
 * The fields of an object that come with the same part as the field that is being executed, which answers the object.
 */
export function fieldsOfPart(typename: string, info: GraphQLResolveInfo): readonly SelectedField[] {
  const place = fieldAt(info.path, info);
  const type = info.schema.getType(typename);
  if (!isObjectType(type)) return [];
  const usages = outermostOf(place.usages);
  return place.below.on(type).fields.filter((selected) => isSame(outermostOf(selected.usages), usages));
}

type Path = GraphQLResolveInfo['path'];

/** The field at a path of the answer. */
function fieldAt({ prev, key, typename }: Path, info: GraphQLResolveInfo): SelectedField {
  if (typeof key === 'number' && prev !== undefined) return fieldAt(prev, info);
  const above: Selection = prev === undefined ? executedTree(info).root : fieldAt(prev, info).below;
  const type = info.schema.getType(typename ?? '');
  const fields = isObjectType(type) ? above.on(type).fields : [];
  const selected = fields.find(({ responseKey }) => responseKey === key);
  if (selected === undefined) throw new Error(`nothing selects ${key}`);
  return selected;
}

const none: ReadonlySet<DeferUsage> = new Set();

/** The outermost fragments that a field waits for. An inner fragment waits for whatever the outer one waits for. */
function outermostOf(all: readonly (DeferUsage | undefined)[] = [undefined]): ReadonlySet<DeferUsage> {
  const usages = new Set<DeferUsage>();
  for (const usage of all) {
    if (usage === undefined) return none;
    usages.add(usage);
  }
  for (const usage of usages) {
    for (let around = usage.around; around !== undefined; around = around.around)
      if (usages.has(around)) usages.delete(usage);
  }
  return usages;
}

function isSame(one: ReadonlySet<DeferUsage>, other: ReadonlySet<DeferUsage>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
}
