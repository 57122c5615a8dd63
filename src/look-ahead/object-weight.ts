import {
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { ObjectWeight } from '../answer/answer-counter.ts';
import type { GatewayContext } from '../context.ts';
import { memoize } from '../memoize.ts';
import { rootOf, selectionOf } from './operation-trees.ts';
import type { Role } from './roles.ts';
import { type ObjectSelection, type OperationScope, type SelectedField } from './selection-tree.ts';

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
  answer.add(count, isObjectType(type) ? weightOf(selectionOf(info).on(type)) : nothing, info.path, owner);
}

/** The weight of the root of an operation at most, whatever its variables are. */
export function rootWeight(scope: OperationScope): ObjectWeight {
  const root = rootOf(scope, undefined);
  return root === undefined ? nothing : weightOf(root);
}

const nothing: ObjectWeight = { objects: 0, bytes: 0, leaves: 0, ids: 0, copies: 0 };

/** Braces and a comma; quotes, a colon and a comma. */
const [aroundObject, aroundMember] = [3, 4];

/** The weight of an object in an answer, with what is selected on it. */
export const weightOf: (selection: ObjectSelection) => ObjectWeight = memoize(({ fields, typenames, introspects }) => {
  const weight = { ...nothing, objects: 1, bytes: aroundObject };
  const perColumn = new Map<string, number>();
  for (const selected of fields) {
    weight.bytes += selected.responseKey.length + aroundMember;
    if (comesAlong(selected)) add(weight, weightOf(selected.inside));
    if (!isLeafType(getNamedType(selected.field.type))) continue;
    const { name } = selected.field;
    const isId = name === 'id';
    weight.leaves += 1;
    weight.ids += isId ? 1 : 0;
    // Both ids are the same column, and the global one is longer than that.
    const column = name === 'upstreamId' ? 'id' : name;
    if (isFromUpstream(selected)) perColumn.set(column, (perColumn.get(column) ?? 0) + (isId ? 2 : 1));
  }
  for (const responseKey of typenames) weight.bytes += responseKey.length + aroundMember;
  weight.leaves += typenames.length;
  // Only the answer says how much it has of the schema.
  if (introspects) weight.bytes = Number.POSITIVE_INFINITY;
  // The answer of a report as a whole has what its fields are read from.
  const whole = perColumn.get('body') ?? 0;
  perColumn.delete('body');
  weight.copies += whole + Math.max(0, ...perColumn.values());
  return weight;
});

function add(weight: { -readonly [Part in keyof ObjectWeight]: number }, inner: ObjectWeight): void {
  weight.objects += inner.objects;
  weight.bytes += inner.bytes;
  weight.leaves += inner.leaves;
  weight.ids += inner.ids;
  weight.copies += inner.copies;
}

/** True for objects that come with the one that they are selected on: no resolver of theirs counts them. */
function comesAlong(selected: SelectedField): selected is SelectedField & { readonly inside: ObjectSelection } {
  const isList = isListType(getNullableType(selected.field.type));
  return !isList && withoutCall.has(selected.role.kind) && selected.inside !== undefined;
}

/** Roles of fields whose objects cost no further call. */
const withoutCall: ReadonlySet<Role['kind']> = new Set(['free', 'column', 'organization', 'organizationOf', 'write']);

/** True if a leaf may be a text as long as the upstream likes. */
function isFromUpstream({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return !isEnumType(type) && type.name !== 'Int' && type.name !== 'Boolean';
}
