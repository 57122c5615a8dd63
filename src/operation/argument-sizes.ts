import { type FieldNode, type GraphQLError, Kind, type ValueNode } from 'graphql';
import { visitFields } from '../look-ahead/operation-trees.ts';
import { type OperationScope } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';
import type { JsonObject } from '../rest/values.ts';
import type { PreparedOperation } from './document.ts';
import { requestError } from './request-error.ts';

/** JSON without its variables, and the names of these variables, once for each occurrence. */
interface Template {
  readonly text: string;
  readonly variables: readonly string[];
}

interface FieldArguments {
  /**
   * The response keys down to the field. For a field of a fragment, the path leads through the first place at which the
   * fragment is spread.
   */
  readonly path: string;
  readonly all: Template;
  /** The arguments that a REST call sends in its query. */
  readonly query: Template;
}

/** The arguments of all fields of an operation, whatever its variables are. */
interface OperationArguments {
  readonly fields: readonly FieldArguments[];
  /** UTF-16 units of the longest template, and the largest number of variables in a template. */
  readonly mostUnits: number;
  readonly mostVariables: number;
  /** The defaults of variables, as JSON. */
  readonly defaults: ReadonlyMap<string, string>;
}

/** Throws a GraphQLError if arguments are too large. `text` is the variables of the request as JSON. */
export type RefuseArguments = (prepared: PreparedOperation, variables: JsonObject | undefined, text: string) => void;

/** The most bytes of a UTF-16 unit: three in UTF-8, each of which percent-encoding writes as three. */
const mostBytesOfUnit = 9;

/**
 * Refuses operations in which the arguments of one field have more than `limit` bytes, as JSON or in the query of a
 * REST call. A field is executed for each object that has it, which multiplies its arguments. Fields that a directive
 * skips count as well. Arguments of a mutation itself do not count, because it is executed once. Most operations need
 * not be measured.
 */
export function createRefuseArguments(limit: number): RefuseArguments {
  const argumentsIn = memoize(argumentsOf);
  return (prepared, variables = {}, text) => {
    const { fields, mostUnits, mostVariables, defaults } = argumentsIn(prepared);
    let units = text.length;
    for (const value of defaults.values()) units += value.length;
    if ((mostUnits + units * mostVariables) * mostBytesOfUnit <= limit) return;
    const texts = new Map(defaults);
    for (const [name, value] of Object.entries(variables)) texts.set(name, JSON.stringify(value));
    for (const field of fields) refuseField(field, texts, limit);
  };
}

function refuseField({ path, all, query }: FieldArguments, texts: ReadonlyMap<string, string>, limit: number): void {
  const bytes = sizeOf(all, texts, (text) => Buffer.byteLength(text));
  if (bytes > limit) throw tooLarge(`The arguments of \`${path}\` have ${bytes} bytes as JSON`, limit, path, bytes);
  const encoded = sizeOf(query, texts, (text) => encodeURIComponent(text.toWellFormed()).length);
  if (encoded <= limit) return;
  throw tooLarge(
    `The arguments of \`${path}\` have ${encoded} bytes in the query of a REST call`,
    limit,
    path,
    encoded,
  );
}

function tooLarge(what: string, limit: number, path: string, bytes: number): GraphQLError {
  const details = { bytes, limit, path };
  return requestError('largeArguments', `${what}, but the limit is ${limit}.`, { details });
}

function sizeOf(
  { text, variables }: Template,
  texts: ReadonlyMap<string, string>,
  measure: (text: string) => number,
): number {
  const measured = new Map<string, number>();
  let size = measure(text);
  for (const name of variables) {
    const known = measured.get(name) ?? measure(texts.get(name) ?? '');
    measured.set(name, known);
    size += known;
  }
  return size;
}

function argumentsOf(scope: PreparedOperation): OperationArguments {
  const fields = fieldsOf(scope);
  const defaults = new Map<string, string>();
  for (const { variable, defaultValue } of scope.operation.variableDefinitions ?? [])
    if (defaultValue !== undefined) defaults.set(variable.name.value, templateOf(defaultValue).text);
  return {
    fields,
    mostUnits: fields.reduce((most, { all }) => Math.max(most, all.text.length), 0),
    mostVariables: fields.reduce((most, { all }) => Math.max(most, all.variables.length), 0),
    defaults,
  };
}

/** The fields with arguments. A field that several places spread counts once. */
function fieldsOf(scope: OperationScope): FieldArguments[] {
  const found = new Map<FieldNode, FieldArguments>();
  visitFields(scope, ({ parent, nodes: [node] }, path) => {
    // Fields that share a response key have the same arguments.
    if (node?.arguments === undefined || node.arguments.length === 0 || found.has(node)) return;
    if (parent !== scope.schema.getMutationType()) found.set(node, argumentsOfField(node, path));
  });
  return [...found.values()];
}

/** Arguments whose values are sent unchanged in the query. */
const queryArguments: ReadonlySet<string> = new Set(['filter', 'select', 'key', 'eventName']);

function argumentsOfField({ arguments: given = [] }: FieldNode, path: string): FieldArguments {
  const members = given.map(({ name, value }) => ({ name: name.value, ...templateOf(value) }));
  const inQuery = members.filter(({ name }) => queryArguments.has(name));
  return { path, all: objectOf(members), query: objectOf(inQuery) };
}

function objectOf(members: readonly (Template & { readonly name: string })[]): Template {
  const text = `{${members.map((member) => `"${member.name}":${member.text}`).join()}}`;
  return { text, variables: members.flatMap(({ variables }) => variables) };
}

/** A value of a document as JSON. */
function templateOf(value: ValueNode): Template {
  switch (value.kind) {
    case Kind.VARIABLE:
      return { text: '', variables: [value.name.value] };
    case Kind.NULL:
      return { text: 'null', variables: [] };
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.BOOLEAN:
      return { text: String(value.value), variables: [] };
    case Kind.STRING:
    case Kind.ENUM:
      return { text: JSON.stringify(value.value), variables: [] };
    case Kind.LIST: {
      const items = value.values.map(templateOf);
      const text = `[${items.map((item) => item.text).join()}]`;
      return { text, variables: items.flatMap(({ variables }) => variables) };
    }
    case Kind.OBJECT:
      return objectOf(value.fields.map(({ name, value: member }) => ({ name: name.value, ...templateOf(member) })));
  }
}
