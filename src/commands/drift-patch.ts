import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch } from 'diff';
import { type Document, isMap, isNode, isScalar, isSeq, parseDocument, visit, type YAMLMap } from 'yaml';
import { type Difference, type JsonType, typeOf } from '../rest/drift/compare.ts';

const path = 'schema/rest.openapi.yaml';

/** The number of unchanged lines that a patch shows around a change. */
const contextLines = 2;

/**
 * The maximum number of values that a patch adds to an enum. Further values are left out, because a column that has so
 * many is probably no enum.
 */
const mostValues = 20;

/**
 * A unified diff of an OpenAPI document. It removes the differences between the document and the answers. Differences
 * are left out if the document does not describe the place where they were found.
 */
export function patchOf(openapi: string, differences: readonly Difference[]): string {
  const document = parseDocument(openapi);
  const [unknown, others] = [differences.filter(isOfNewColumn), differences.filter((one) => !isOfNewColumn(one))];
  for (const difference of others) allow(document, difference);
  // Detail views come first, because new columns of list views refer to new columns of detail views.
  const [ofLists, ofDetails] = [unknown.filter(isOfList), unknown.filter((one) => !isOfList(one))];
  for (const same of Map.groupBy([...ofDetails, ...ofLists], ({ view, column }) => `${view} ${column}`).values())
    addColumn(document, same);
  const result = documentText(document);
  if (result === openapi) return '';
  const options = { context: contextLines };
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, openapi, result, undefined, undefined, options);
  return patch.replace(/^=+\n/, '');
}

function isOfNewColumn({ kind }: Difference): boolean {
  return kind === 'unknown_column';
}

function isOfList({ view }: Difference): boolean {
  return view.endsWith('ListItem');
}

/**
 * A document as text, in the form of the OpenAPI document in `schema/`, so that a patch has changed lines only: blanks
 * within the braces of maps, and none within the brackets of lists. The library has one option for both.
 */
export function documentText(document: Document): string {
  visit(document, {
    Collection(_key, node) {
      const flowCollectionPadding = isSeq(node) ? '' : ' ';
      const write = node.toString.bind(node);
      node.toString = (context, ...others) => write(context && { ...context, flowCollectionPadding }, ...others);
    },
  });
  return document.toString({ lineWidth: 120, singleQuote: true });
}

/** Changes a document so that it allows a difference. Changes nothing if the form of the schema is not known. */
function allow(document: Document, difference: Difference): void {
  const { kind, value } = difference;
  const schema = schemaOf(document, difference);
  if (schema === undefined) return;
  if (kind === 'missing_column') {
    if (!schema.has('writeOnly')) schema.items.unshift(document.createPair('writeOnly', true));
  } else if (kind === 'unknown_enum') {
    append(document, schema.get('x-known-values', true) ?? schema.get('enum', true), value);
  } else if (value !== undefined) {
    allowType(document, schema, typeOf(value));
  }
}

/**
 * The schema of a column. A column of a list view usually refers to the same column of the detail view, so one schema
 * may have differences from several views. Undefined if the document has no such schema.
 */
function schemaOf(document: Document, { view, column, isItem }: Difference): YAMLMap | undefined {
  const found = target(document, document.getIn(['components', 'schemas', view, 'properties', column], true));
  const schema = isItem && isMap(found) ? target(document, found.get('items', true)) : found;
  return isMap(schema) ? schema : undefined;
}

/** Resolves a `$ref`. Returns any other node unchanged. */
function target(document: Document, node: unknown): unknown {
  const reference = isMap(node) ? node.get('$ref') : undefined;
  return typeof reference === 'string' ? document.getIn(reference.split('/').slice(1), true) : node;
}

/** Lets a schema allow a further type. Adds it to `anyOf` if the schema has that, otherwise to `type`. */
function allowType(document: Document, schema: YAMLMap, type: JsonType): void {
  const alternatives = schema.get('anyOf', true);
  if (alternatives !== undefined) return append(document, alternatives, { type });
  const known = schema.get('type', true);
  if (isScalar(known)) schema.set('type', document.createNode([known.value], { flow: true }));
  append(document, schema.get('type', true), type);
}

/** Adds a value to a list, unless the list has the value, or `mostValues` were added to the list before. */
function append(document: Document, list: unknown, value: unknown): void {
  if (!isSeq(list)) return;
  const values: readonly unknown[] = list.toJSON();
  // Only nodes that were read from a text have a range.
  const added = list.items.filter((item) => isNode(item) && item.range === undefined);
  if (added.length >= mostValues || values.some((known) => isDeepStrictEqual(known, value))) return;
  list.add(document.createNode(value, { flow: true }));
}

/** The description of a column that the document did not have. */
const description = 'Seen in answers, and not documented.';

/**
 * Adds a column after the last one. A column of a list view refers to the same column of the detail view, if the detail
 * view has that column. Any other column gets a definition of its own. Objects and arrays allow any JSON, because the
 * upstream decides their contents.
 */
function addColumn(document: Document, [first, ...others]: readonly Difference[]): void {
  if (first === undefined) return;
  const { view, column } = first;
  const columns = document.getIn(['components', 'schemas', view, 'properties'], true);
  if (!isMap(columns)) return;
  const detail = view.replace(/ListItem$/, '');
  const isKnown = detail !== view && document.hasIn(['components', 'schemas', detail, 'properties', column]);
  const types = [...new Set([first, ...others].map(({ value }) => typeOf(value)))].filter((one) => one !== 'null');
  const isPlain = types.length > 0 && !types.includes('object') && !types.includes('array');
  const definition = isKnown
    ? { $ref: `#/components/schemas/${detail}/properties/${column}` }
    : { ...(isPlain && { type: [...types, 'null'] }), description };
  columns.set(column, document.createNode(definition, { flow: true }));
}
