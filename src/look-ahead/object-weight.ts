import {
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { ObjectWeight } from '../answer-counter.ts';
import type { GatewayContext } from '../context.ts';
import { memoize } from '../memoize.ts';
import type { FieldOrigin } from './field-origins.ts';
import { rootOf, selectionOf } from './operation-trees.ts';
import { type ObjectSelection, type OperationScope, type SelectedField } from './selection-tree.ts';

/**
 * Counts the objects that the current field will answer. `idLength` is the number of characters of upstream ids in each
 * global id. `typename` is the type of the objects if the field has several possible types. Throws an AnswerLimitError
 * if the answer is too large.
 */
export function countAnswered(
  count: number,
  { answerCounter }: Pick<GatewayContext, 'answerCounter'>,
  info: GraphQLResolveInfo,
  idLength?: number,
  typename?: string,
): void {
  const type = typename === undefined ? getNamedType(info.returnType) : info.schema.getType(typename);
  answerCounter.add(count, isObjectType(type) ? weightOf(selectionOf(info).on(type)) : noWeight, info.path, idLength);
}

/** The most that the root of an operation can weigh, whatever its variables are. */
export function rootWeight(scope: OperationScope): ObjectWeight {
  const root = rootOf(scope, undefined);
  return root === undefined ? noWeight : weightOf(root);
}

const noWeight: ObjectWeight = { objects: 0, bytes: 0, leaves: 0, ids: 0, copies: 0 };
const units = ['objects', 'bytes', 'leaves', 'ids', 'copies'] as const;

/** The characters around an object (braces and a comma), and around a member (quotes, a colon and a comma). */
const [aroundObject, aroundMember] = [3, 4];

/** The weight of an object in an answer, with its selection. */
const weightOf: (selection: ObjectSelection) => ObjectWeight = memoize(({ fields, typenames, introspects }) => {
  const weight = { ...noWeight, objects: 1, bytes: aroundObject };
  const perColumn = new Map<string, number>();
  for (const selected of fields) {
    weight.bytes += selected.responseKey.length + aroundMember;
    const inner = comesAlong(selected) ? weightOf(selected.inside) : noWeight;
    for (const unit of units) weight[unit] += inner[unit];
    if (!isLeafType(getNamedType(selected.field.type))) continue;
    const { name } = selected.field;
    const isId = name === 'id';
    weight.leaves += 1;
    weight.ids += isId ? 1 : 0;
    // Both ids come from the same column. The global id is longer, so it counts twice.
    const column = name === 'upstreamId' ? 'id' : name;
    if (isFromUpstream(selected)) perColumn.set(column, (perColumn.get(column) ?? 0) + (isId ? 2 : 1));
  }
  for (const responseKey of typenames) weight.bytes += responseKey.length + aroundMember;
  weight.leaves += typenames.length;
  // Introspection answers a part of the schema. Its size is known only from the answer.
  if (introspects) weight.bytes = Number.POSITIVE_INFINITY;
  // The field `body` answers the whole report once more, so its size adds to that of the other fields.
  const whole = perColumn.get('body') ?? 0;
  perColumn.delete('body');
  weight.copies += whole + Math.max(0, ...perColumn.values());
  return weight;
});

/** True for a field whose object is counted together with its parent object. */
function comesAlong(selected: SelectedField): selected is SelectedField & { readonly inside: ObjectSelection } {
  const isList = isListType(getNullableType(selected.field.type));
  return !isList && withoutCall.has(selected.origin.kind) && selected.inside !== undefined;
}

/** Origins of fields whose objects cost no further call. */
const withoutCall: ReadonlySet<FieldOrigin['kind']> = new Set([
  'free',
  'column',
  'organization',
  'organizationOf',
  'write',
]);

/** True if a leaf may be a text of any length from the upstream. */
function isFromUpstream({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return !isEnumType(type) && type.name !== 'Int' && type.name !== 'Boolean';
}
