import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
} from 'graphql';

/** True if fields select the field at a path of names below them. */
export function selects(
  nodes: readonly FieldNode[],
  [name, ...names]: readonly string[],
  info: GraphQLResolveInfo,
): boolean {
  if (name === undefined) return true;
  const fields = nodes.flatMap(
    ({ selectionSet }) => selectionSet?.selections.flatMap((one) => fieldsOf(one, info)) ?? [],
  );
  const found = fields.filter((field) => field.name.value === name);
  return found.length > 0 && selects(found, names, info);
}

function fieldsOf(node: SelectionNode, info: GraphQLResolveInfo): readonly FieldNode[] {
  const { variableValues, fragments } = info;
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] === true) return [];
  if (getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] === false) return [];
  if (node.kind === 'Field') return [node];
  const set = node.kind === 'InlineFragment' ? node.selectionSet : fragments[node.name.value]?.selectionSet;
  return set?.selections.flatMap((one) => fieldsOf(one, info)) ?? [];
}
