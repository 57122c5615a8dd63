import { type ArgumentNode, type FieldNode, Kind, type ObjectFieldNode, type ValueNode } from 'graphql';
import { visitFields } from '../look-ahead/operation-trees.ts';
import { memoize } from '../memoize.ts';
import type { JsonObject } from '../rest/values.ts';
import type { PreparedOperation } from './document.ts';
import { RequestError } from './request-error.ts';

/** The forms in which arguments are measured, and the bytes of a JSON text in each form. */
const forms = {
  'as JSON': (text: string) => Buffer.byteLength(text),
  'in the query of a REST call': (text: string) => encodeURIComponent(text.toWellFormed()).length,
};

interface FieldArguments {
  /** The response keys from the root to the field. If its fragment is spread several times, the first spread counts. */
  readonly path: string;
  readonly form: keyof typeof forms;
  /** The number of bytes without the values of the variables. */
  readonly bytes: number;
  /** The names of the variables in the arguments. A variable that occurs twice is listed twice. */
  readonly variables: readonly string[];
}

/** The arguments of an operation's fields, measured once, without the values of its variables. */
interface OperationArguments {
  readonly fields: readonly FieldArguments[];
  readonly mostBytes: number;
  readonly mostVariables: number;
  /** The defaults of variables, as JSON. */
  readonly defaults: ReadonlyMap<string, string>;
}

/** The most bytes of a UTF-16 unit: three in UTF-8, each of which percent-encoding writes as three. */
const mostBytesOfUnit = 9;

const argumentsIn = memoize(argumentsOf);

/**
 * Throws a RequestError if the arguments of one field have more than `limit` bytes in one of the forms. A field of many
 * objects is executed once for each object, which multiplies its arguments. The fields of `Mutation` are not checked,
 * because each is executed once. `text` is the JSON of the variables. If it is short, as usual, nothing is measured.
 */
export function refuseArguments(
  prepared: PreparedOperation,
  variables: JsonObject | undefined,
  text: string,
  limit: number,
): void {
  const { fields, mostBytes, mostVariables, defaults } = argumentsIn(prepared);
  let units = text.length;
  for (const value of defaults.values()) units += value.length;
  if (mostBytes + units * mostVariables * mostBytesOfUnit <= limit) return;
  const texts = new Map(defaults);
  for (const [name, value] of Object.entries(variables ?? {})) texts.set(name, JSON.stringify(value));
  const sizes = new Map<string, number>();
  for (const { path, form, bytes: own, variables: names } of fields) {
    let bytes = own;
    for (const name of names) {
      const key = `${form} ${name}`;
      const size = sizes.get(key) ?? forms[form](texts.get(name) ?? '');
      sizes.set(key, size);
      bytes += size;
    }
    if (bytes <= limit) continue;
    const message = `The arguments of \`${path}\` have ${bytes} bytes ${form}, but the limit is ${limit}.`;
    throw new RequestError('largeArguments', message, { details: { bytes, limit, path } });
  }
}

function argumentsOf(scope: PreparedOperation): OperationArguments {
  const found = new Map<FieldNode, readonly FieldArguments[]>();
  visitFields(scope, ({ parent, nodes: [node] }, path) => {
    // Fields that share a response key have the same arguments.
    if (node?.arguments === undefined || node.arguments.length === 0 || found.has(node)) return;
    if (parent !== scope.schema.getMutationType()) found.set(node, argumentsOfField(node, path));
  });
  const fields = [...found.values()].flat();
  const defaults = new Map<string, string>();
  for (const { variable, defaultValue } of scope.operation.variableDefinitions ?? [])
    if (defaultValue !== undefined) defaults.set(variable.name.value, jsonOf(defaultValue, []));
  return {
    fields,
    mostBytes: fields.reduce((most, { bytes }) => Math.max(most, bytes), 0),
    mostVariables: fields.reduce((most, { variables }) => Math.max(most, variables.length), 0),
    defaults,
  };
}

/** Arguments whose values are sent unchanged in the query of a REST call. */
const queryArguments: ReadonlySet<string> = new Set(['filter', 'select', 'key', 'eventName']);

function argumentsOfField({ arguments: given = [] }: FieldNode, path: string): readonly FieldArguments[] {
  const inQuery = given.filter(({ name }) => queryArguments.has(name.value));
  const measured = (form: keyof typeof forms, members: readonly ArgumentNode[]): FieldArguments => {
    const variables: string[] = [];
    return { path, form, bytes: forms[form](jsonOfMembers(members, variables)), variables };
  };
  return [measured('as JSON', given), measured('in the query of a REST call', inQuery)];
}

function jsonOfMembers(members: readonly (ArgumentNode | ObjectFieldNode)[], variables: string[]): string {
  return `{${members.map(({ name, value }) => `"${name.value}":${jsonOf(value, variables)}`).join()}}`;
}

/** A value of a document as JSON, without its variables. Adds their names to `variables`. */
function jsonOf(value: ValueNode, variables: string[]): string {
  switch (value.kind) {
    case Kind.VARIABLE:
      variables.push(value.name.value);
      return '';
    case Kind.NULL:
      return 'null';
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.BOOLEAN:
      return String(value.value);
    case Kind.STRING:
    case Kind.ENUM:
      return JSON.stringify(value.value);
    case Kind.LIST:
      return `[${value.values.map((item) => jsonOf(item, variables)).join()}]`;
    case Kind.OBJECT:
      return jsonOfMembers(value.fields, variables);
  }
}
