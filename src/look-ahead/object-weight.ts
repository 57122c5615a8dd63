import {
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import type { ObjectWeight } from '../answer/answer-budget.ts';
import type { GatewayContext } from '../context.ts';
import { typenameFields } from './meta-fields.ts';
import { Remembered } from './remembered.ts';
import { type Role, roleOf } from './roles.ts';
import {
  isConstant,
  possibleFields,
  type SelectedField,
  type Selecting,
  type SelectionScope,
  scopeOf,
  selectedFields,
  type Which,
} from './selection.ts';

/** The weights of selections, for as long as their document lives. */
const known = new Remembered<ObjectWeight>();

/** What an object of a type adds to an answer with what nodes select on it. Worked out once if no variable decides. */
export function weightOf(type: GraphQLObjectType, nodes: readonly Selecting[], scope: SelectionScope): ObjectWeight {
  const [node] = nodes;
  const isCacheable = node !== undefined && nodes.length === 1;
  const cached = isCacheable ? known.get(type, node) : undefined;
  if (cached !== undefined) return cached;
  const weight = findWeight(type, nodes, scope, 'selected');
  if (isCacheable && isSettled(type, nodes, scope)) known.set(type, node, weight);
  return weight;
}

/**
 * Counts objects that the field being executed answers, before they are made; `owner` is the length of the ids that their
 * global ids hold beside their own. Throws an AnswerLimitError if the answer has too much.
 */
export function countAnswered(
  count: number,
  { answer }: Pick<GatewayContext, 'answer'>,
  info: GraphQLResolveInfo,
  owner?: number,
): void {
  const type = getNamedType(info.returnType);
  const weight = isObjectType(type) ? weightOf(type, info.fieldNodes, scopeOf(info)) : nothing;
  answer.take(count, weight, info.path, owner);
}

/** What the root of an operation adds to its answer at most, whatever the variables are. */
export function rootWeight(
  operation: OperationDefinitionNode,
  { schema, fragments }: Pick<SelectionScope, 'schema' | 'fragments'>,
): ObjectWeight {
  const type = schema.getRootType(operation.operation);
  const scope = { schema, fragments, variableValues: { sources: {}, coerced: {} } };
  return isObjectType(type) ? findWeight(type, [operation], scope, 'possible') : nothing;
}

const nothing: ObjectWeight = { objects: 0, bytes: 0, leaves: 0, ids: 0, copies: 0 };

/** Braces and a comma; quotes, a colon and a comma. */
const [aroundObject, aroundMember] = [3, 4];

function findWeight(
  type: GraphQLObjectType,
  nodes: readonly Selecting[],
  scope: SelectionScope,
  which: Which,
): ObjectWeight {
  const weight = { ...nothing, objects: 1, bytes: aroundObject };
  const perColumn = new Map<string, number>();
  const fields = which === 'selected' ? selectedFields(type, nodes, scope) : possibleFields(type, nodes, scope);
  for (const selected of fields) {
    weight.bytes += selected.responseKey.length + aroundMember;
    const within = typeWithin(type, selected);
    if (within !== undefined) add(weight, findWeight(within, selected.nodes, scope, which));
    if (!isLeafType(getNamedType(selected.field.type))) continue;
    const { name } = selected.field;
    const isId = name === 'id';
    weight.leaves += 1;
    weight.ids += isId ? 1 : 0;
    // Both ids are the same column, and the global one is longer than that.
    const column = name === 'upstreamId' ? 'id' : name;
    if (isFromUpstream(selected)) perColumn.set(column, (perColumn.get(column) ?? 0) + (isId ? 2 : 1));
  }
  for (const { responseKey } of typenameFields(type, nodes, scope, which)) {
    weight.bytes += responseKey.length + aroundMember;
    weight.leaves += 1;
  }
  // The answer of a report as a whole has what its fields are read from.
  const whole = perColumn.get('body') ?? 0;
  perColumn.delete('body');
  weight.copies += whole + Math.max(0, ...perColumn.values());
  return weight;
}

function add(weight: { -readonly [Part in keyof ObjectWeight]: number }, inner: ObjectWeight): void {
  weight.objects += inner.objects;
  weight.bytes += inner.bytes;
  weight.leaves += inner.leaves;
  weight.ids += inner.ids;
  weight.copies += inner.copies;
}

/** Whether no variable decides about what is weighed with an object. */
function isSettled(type: GraphQLObjectType, nodes: readonly Selecting[], scope: SelectionScope): boolean {
  if (!nodes.every((node) => isConstant(node, scope))) return false;
  return selectedFields(type, nodes, scope).every((selected) => {
    const inner = typeWithin(type, selected);
    return inner === undefined || isSettled(inner, selected.nodes, scope);
  });
}

/** The type of an object that comes with the one that it is selected on; undefined for what is weighed by itself. */
function typeWithin(type: GraphQLObjectType, { field }: SelectedField): GraphQLObjectType | undefined {
  const answer = getNamedType(field.type);
  if (!isObjectType(answer) || isListType(getNullableType(field.type))) return undefined;
  return comesAlong.has(roleOf(type, field).kind) ? answer : undefined;
}

/** Roles of fields whose objects cost no further call: no resolver of theirs counts them. */
const comesAlong: ReadonlySet<Role['kind']> = new Set(['free', 'column', 'organization', 'organizationOf', 'write']);

/** Whether a leaf may be a text as long as the upstream likes. */
function isFromUpstream({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return !isEnumType(type) && type.name !== 'Int' && type.name !== 'Boolean';
}
