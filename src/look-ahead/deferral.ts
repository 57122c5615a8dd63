import {
  type FieldNode,
  GraphQLDeferDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getDirectiveValues,
  isObjectType,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import {
  appliesTo,
  inclusionOf,
  type SelectedField,
  type Selecting,
  type SelectionScope,
  scopeOf,
} from './selection.ts';

// Which fields come with the same part of an answer. graphql's executors work that out for themselves (`collectFields`
// and `buildExecutionPlan`), and give resolvers nothing of it.

/** A use of `@defer` at one place of the answer, and the one around it. */
interface DeferUsage {
  readonly around: DeferUsage | undefined;
}

/** A node that selects something at a place, and the innermost `@defer` around it. */
interface Selector<T extends Selecting = Selecting> {
  readonly node: T;
  readonly usage: DeferUsage | undefined;
}

/** A place of the answer, all items of a list being one: what selects there. Made once for each run of an operation. */
class Place {
  readonly selectors: readonly Selector[];
  /** The fragments that wait for it; none: it comes with the first part. */
  readonly usages: ReadonlySet<DeferUsage>;
  readonly #below = new Map<GraphQLObjectType, ReadonlyMap<string, FieldPlace>>();

  constructor(selectors: readonly Selector[]) {
    this.selectors = selectors;
    this.usages = outermostOf(selectors);
  }

  /** What is selected on an object of a type, by response key. */
  below(type: GraphQLObjectType, scope: SelectionScope): ReadonlyMap<string, FieldPlace> {
    const known = this.#below.get(type);
    if (known !== undefined) return known;
    const found = new Map<string, Selector<FieldNode>[]>();
    collect(this.selectors, type, scope, found);
    const places = new Map([...found].map(([key, selectors]) => [key, new FieldPlace(selectors)] as const));
    this.#below.set(type, places);
    return places;
  }
}

/** The place of a field. */
class FieldPlace extends Place {
  readonly nodes: readonly FieldNode[];

  constructor(selectors: readonly Selector<FieldNode>[]) {
    super(selectors);
    this.nodes = selectors.map(({ node }) => node);
  }
}

/** All nodes that stand for the field being executed, whichever parts they are of. */
export function nodesOf(info: GraphQLResolveInfo): readonly FieldNode[] {
  const place = placeOf(info.path, info);
  return place instanceof FieldPlace ? place.nodes : info.fieldNodes;
}

/** The fields of an object that come with the same part as the field that answers it, which is being executed. */
export function fieldsOfPart(type: GraphQLObjectType, info: GraphQLResolveInfo): readonly SelectedField[] {
  const place = placeOf(info.path, info);
  const fields: SelectedField[] = [];
  for (const [responseKey, { usages, nodes }] of place.below(type, scopeOf(info))) {
    const field = type.getFields()[nodes[0]?.name.value ?? ''];
    if (field !== undefined && isSame(usages, place.usages)) fields.push({ responseKey, field, nodes });
  }
  return fields;
}

type Path = GraphQLResolveInfo['path'];

/** The places of each run, by its variables: they are made for it. */
const roots = new WeakMap<object, Place>();

function placeOf(path: Path | undefined, info: GraphQLResolveInfo): Place {
  if (path === undefined) {
    const root = roots.get(info.variableValues) ?? new Place([{ node: info.operation, usage: undefined }]);
    roots.set(info.variableValues, root);
    return root;
  }
  const above = placeOf(path.prev, info);
  if (typeof path.key === 'number') return above;
  const type = info.schema.getType(path.typename ?? '');
  const place = isObjectType(type) ? above.below(type, scopeOf(info)).get(path.key) : undefined;
  if (place === undefined) throw new Error(`nothing selects ${path.key}`);
  return place;
}

const isIncluded = inclusionOf('selected');

/** As `collectFields` of graphql: a fragment counts once for each `@defer` that it is spread with, and once without. */
function collect(
  selectors: readonly Selector[],
  type: GraphQLObjectType,
  scope: SelectionScope,
  found: Map<string, Selector<FieldNode>[]>,
): void {
  const visited = new Map<string, Set<DeferUsage | undefined>>();
  const enter = (set: SelectionSetNode | undefined, usage: DeferUsage | undefined): void => {
    for (const node of set?.selections ?? []) if (isIncluded(node, scope)) take(node, usage);
  };
  const take = (node: SelectionNode, around: DeferUsage | undefined): void => {
    if (node.kind === 'Field') return addTo(found, node, around);
    const inline = node.kind === 'InlineFragment' ? node : undefined;
    const fragment = inline ?? (node.kind === 'FragmentSpread' ? scope.fragments[node.name.value] : undefined);
    if (!appliesTo(fragment?.typeCondition?.name.value, type, scope)) return undefined;
    const usage = isDeferred(node, scope) ? { around } : around;
    if (node.kind === 'FragmentSpread') {
      const before = visited.get(node.name.value) ?? new Set();
      if (before.has(undefined) || before.has(usage)) return undefined;
      visited.set(node.name.value, before.add(usage));
    }
    return enter(fragment?.selectionSet, usage);
  };
  for (const { node, usage } of selectors) enter(node.selectionSet, usage);
}

function addTo(found: Map<string, Selector<FieldNode>[]>, node: FieldNode, usage: DeferUsage | undefined): void {
  const key = node.alias?.value ?? node.name.value;
  const known = found.get(key);
  if (known === undefined) found.set(key, [{ node, usage }]);
  else known.push({ node, usage });
}

/** Whether a selection has `@defer`, and the variables do not switch it off. */
export function isDeferred(node: SelectionNode, { variableValues }: Pick<SelectionScope, 'variableValues'>): boolean {
  const values = getDirectiveValues(GraphQLDeferDirective, node, variableValues);
  return values !== undefined && values['if'] !== false;
}

/** The fragments that wait for a field; one within another waits for what the outer one waits for. */
function outermostOf(selectors: readonly Selector[]): ReadonlySet<DeferUsage> {
  const usages = new Set<DeferUsage>();
  for (const { usage } of selectors) {
    if (usage === undefined) return new Set();
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
