import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { objectFields } from '../graphql/attach-resolvers.ts';
import { isRowType } from '../graphql/field-mapping.ts';
import { RowRecord } from '../graphql/records.ts';
import { suffices } from '../loaders/row-store.ts';
import { current } from '../rest/paths.ts';
import { originOf } from './field-origins.ts';
import { executedTree } from './operation-trees.ts';
import { type DeferUsage, type SelectedField, type Selection } from './selection-tree.ts';

type Resolver = GraphQLFieldResolver<unknown, GatewayContext>;

/** The later forms of a record that was answered early: with its row, and with the id of its owner. */
interface LaterForms {
  readonly row?: Promise<RowRecord | null>;
  readonly ownerId?: Promise<RowRecord>;
}

const laterForms = new WeakMap<RowRecord, LaterForms>();

/** Attaches later forms to a record. A field waits for one of them only if the record lacks what the field needs. */
export function withLaterForms(record: RowRecord, later: LaterForms): RowRecord {
  // The failure of a form that no field asks for must not be an unhandled rejection.
  later.row?.catch(ignore);
  later.ownerId?.catch(ignore);
  laterForms.set(record, { ...laterForms.get(record), ...later });
  return record;
}

/** The record with its row; undefined if it was answered with the row. */
export function withRow(record: RowRecord): Promise<RowRecord | null> | undefined {
  return laterForms.get(record)?.row;
}

/**
 * Prepares a schema for answers in parts (`@defer`). Only fields that need a column wait for the row of their object,
 * so that parts without such fields can be sent earlier.
 */
export function attachParts(schema: GraphQLSchema): void {
  for (const field of objectFields(schema)) {
    if (field.resolve !== undefined) field.resolve = resolvedOnce(field.resolve);
    const isOfRow = isRowType(field.parentType?.name ?? '');
    if (isOfRow) field.resolve = resolvedWithRow(field, field.resolve ?? defaultFieldResolver);
  }
}

function resolvedWithRow(field: GraphQLField<unknown, unknown>, resolve: Resolver): Resolver {
  return (source, args: Readonly<Record<string, unknown>>, context, info) => {
    const later = source instanceof RowRecord ? laterFor(field, source) : undefined;
    if (later === undefined) return resolve(source, args, context, info);
    return later.then((record) => resolve(record ?? source, args, context, info));
  };
}

/** The later form that a field waits for; undefined if the record has what the field needs. */
function laterFor(field: GraphQLField<unknown, unknown>, record: RowRecord): Promise<RowRecord | null> | undefined {
  const later = laterForms.get(record);
  if (later === undefined) return undefined;
  if (field.name === 'id' && later.ownerId !== undefined) return later.ownerId;
  if (field.name === 'id' || field.name === 'upstreamId') return record.knownId === current ? later.row : undefined;
  const origin = originOf(field);
  const isThere = !('view' in origin) || (record.view !== undefined && suffices(record.view, origin.view));
  return isThere ? undefined : later.row;
}

/** The answers of fields, by context and object. Two operations may share an object, such as an entry of a report. */
const answered = new WeakMap<GatewayContext, WeakMap<object, Map<string, unknown>>>();

/**
 * In the format `20220824`, resolves a field once for all parts that have it, with the field nodes of all these parts.
 * So the field makes the same calls as in an answer that is sent whole, and its objects count once.
 */
function resolvedOnce(resolve: Resolver): Resolver {
  return (source, args: Readonly<Record<string, unknown>>, context, info) => {
    if (context.parts !== '20220824') return resolve(source, args, context, info);
    const answers = answersOn(source, context);
    const key = String(info.path.key);
    if (!answers.has(key))
      answers.set(key, resolve(source, args, context, { ...info, fieldNodes: fieldAt(info.path, info).nodes }));
    return answers.get(key);
  };
}

function answersOn(source: unknown, context: GatewayContext): Map<string, unknown> {
  const objects = answered.get(context) ?? new WeakMap<object, Map<string, unknown>>();
  answered.set(context, objects);
  const object = typeof source === 'object' && source !== null ? source : context;
  const answers = objects.get(object) ?? new Map<string, unknown>();
  objects.set(object, answers);
  return answers;
}

function ignore(): void {
  // The fields that wait for the record report the failure.
}

/**
 * The fields on the object that the current field answers, without those that come with another part. graphql's
 * executors know them (`buildExecutionPlan`), but do not tell resolvers.
 */
export function fieldsOfPart(typename: string, info: GraphQLResolveInfo): readonly SelectedField[] {
  const { usages: all, below } = fieldAt(info.path, info);
  const usages = outermostOf(all);
  return below.onNamed(typename).fields.filter((selected) => isSame(outermostOf(selected.usages), usages));
}

type Path = GraphQLResolveInfo['path'];

function fieldAt({ prev, key, typename }: Path, info: GraphQLResolveInfo): SelectedField {
  if (typeof key === 'number' && prev !== undefined) return fieldAt(prev, info);
  const above: Selection = prev === undefined ? executedTree(info).root : fieldAt(prev, info).below;
  const selected = above.onNamed(typename ?? '').fields.find(({ responseKey }) => responseKey === key);
  if (selected === undefined) throw new Error(`nothing selects ${key}`);
  return selected;
}

const none: ReadonlySet<DeferUsage> = new Set();

/** The outermost deferred fragments that a field is in. A fragment is never sent before the one around it. */
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
