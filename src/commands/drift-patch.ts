import { createTwoFilesPatch } from 'diff';
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, stringify, type YAMLMap } from 'yaml';
import { type Difference, type JsonType, typeOf } from '../rest/drift/compare.ts';

/** The file that a patch changes. */
const path = 'schema/rest.openapi.yaml';

/** The number of unchanged lines that a patch shows around a change. */
const contextLines = 2;

/** The most values that a patch adds to an enum. A column with more values is no enum, so the others are left out. */
const mostValues = 20;

/**
 * A unified diff of an OpenAPI document. It removes the differences between the document and the answers. Lines that
 * need no change keep their form. Differences are left out if the document does not describe the place where they were
 * found.
 */
export function patchOf(openapi: string, differences: readonly Difference[]): string {
  const fitting = fit(openapi, differences);
  if (fitting === openapi) return '';
  const options = { context: contextLines };
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, openapi, fitting, undefined, undefined, options);
  return patch.replace(/^=+\n/, '');
}

/** The document after edits for all differences. Each edit is made in the text that the edit before it has left. */
function fit(openapi: string, differences: readonly Difference[]): string {
  return groupsOf(differences).reduce((text, one) => {
    const edit = editFor(parseDocument(text), text, one);
    return edit === undefined ? text : text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  }, openapi);
}

/**
 * Groups equal differences. Those in detail views come first, so that a new column of a list view can refer to the same
 * column of the detail view.
 */
function groupsOf(differences: readonly Difference[]): readonly DifferenceGroup[] {
  const found = new Map<string, DifferenceGroup & { types: Set<JsonType>; values: Set<unknown> }>();
  for (const { kind, view, column, isItem, value } of differences) {
    const key = [kind, view, column, isItem].join(' ');
    const known = found.get(key) ?? { kind, view, column, isItem, types: new Set(), values: new Set() };
    found.set(key, known);
    if (value !== undefined) known.types.add(typeOf(value));
    if (known.values.size < mostValues) known.values.add(value);
  }
  const all = [...found.values()];
  return [...all.filter(({ view }) => !isListView(view)), ...all.filter(({ view }) => isListView(view))];
}

function isListView(view: string): boolean {
  return view.endsWith('ListItem');
}

/** One difference, as it was found in any number of rows. */
interface DifferenceGroup extends Pick<Difference, 'kind' | 'view' | 'column' | 'isItem'> {
  readonly types: ReadonlySet<JsonType>;
  readonly values: ReadonlySet<unknown>;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The description of a column that the document did not have. */
const newColumn = 'Seen in answers, and not documented.';

/** The edit of an OpenAPI document that allows a difference; undefined if the document does not name what differs. */
function editFor(document: Document, text: string, group: DifferenceGroup): Edit | undefined {
  const properties = document.getIn(['components', 'schemas', group.view, 'properties'], true);
  if (!isMap(properties)) return undefined;
  if (group.kind === 'unknown_column') return addColumn(document, text, group, properties);
  const column = target(document, properties.get(group.column, true));
  const schema = group.isItem && isMap(column) ? target(document, column.get('items', true)) : column;
  if (!isMap(schema)) return undefined;
  switch (group.kind) {
    case 'missing_column':
      return addMember(text, schema, 'writeOnly: true');
    case 'unknown_enum':
      return append(schema.get('x-known-values', true) ?? schema.get('enum', true), [...group.values].map(flow));
    case 'wrong_type':
    case 'unexpected_null':
      return widen(schema, group.types);
  }
}

/** Resolves a `$ref`. Returns any other node unchanged. */
function target(document: Document, node: unknown): unknown {
  const reference = isMap(node) ? node.get('$ref') : undefined;
  return typeof reference === 'string' ? document.getIn(reference.split('/').slice(1), true) : node;
}

/**
 * Adds a column after the last one. A column of a list view refers to the same column of the detail view, if there is
 * one.
 */
function addColumn(
  document: Document,
  text: string,
  { view, column, types }: DifferenceGroup,
  properties: YAMLMap,
): Edit {
  const detail = view.replace(/ListItem$/, '');
  const known = document.getIn(['components', 'schemas', detail, 'properties', column]);
  const reference = `{ $ref: '#/components/schemas/${detail}/properties/${column}' }`;
  const definition = detail !== view && known !== undefined ? reference : definitionOf(types);
  const end = text.slice(0, rangeOf(properties)[1]).trimEnd().length;
  return { start: end, end, text: `\n${indentOf(text, properties)}${flow(column)}: ${definition}` };
}

/**
 * The definition of a column with these types. Objects and arrays allow any JSON, because the upstream decides their
 * contents.
 */
function definitionOf(types: ReadonlySet<JsonType>): string {
  const others = [...types].filter((type) => type !== 'null');
  const isPlain = others.length > 0 && !types.has('object') && !types.has('array');
  return isPlain
    ? `{ type: [${others.join(', ')}, 'null'], description: '${newColumn}' }`
    : `{ description: '${newColumn}' }`;
}

/** Allows further types, as alternatives if the schema already has alternatives. */
function widen(schema: YAMLMap, types: ReadonlySet<JsonType>): Edit | undefined {
  const names = [...types].map((type) => (type === 'null' ? "'null'" : type));
  const alternatives = schema.get('anyOf', true);
  if (alternatives !== undefined)
    return append(
      alternatives,
      names.map((name) => `{ type: ${name} }`),
    );
  const type = schema.get('type', true);
  if (!isScalar(type)) return append(type, names);
  const [start, end] = rangeOf(type);
  return { start, end, text: `[${[String(type.value), ...names].join(', ')}]` };
}

/** Adds items to a list in brackets. */
function append(list: unknown, items: readonly string[]): Edit | undefined {
  if (!isSeq(list) || list.flow !== true) return undefined;
  const end = rangeOf(list)[1] - 1;
  return { start: end, end, text: items.map((item) => `, ${item}`).join('') };
}

/** The edit that adds a member to a map, before all others. */
function addMember(text: string, map: YAMLMap, member: string): Edit {
  const [start] = rangeOf(map);
  if (map.flow === true) return { start: start + 1, end: start + 1, text: ` ${member},` };
  return { start, end: start, text: `${member}\n${indentOf(text, map)}` };
}

/** The white space before the first member of a map whose members have a line each. */
function indentOf(text: string, map: YAMLMap): string {
  const [start] = rangeOf(map);
  return ' '.repeat(start - text.lastIndexOf('\n', start - 1) - 1);
}

/** The range of a node in the text that it was parsed from. */
function rangeOf({ range }: Node): readonly [start: number, end: number] {
  if (range === undefined || range === null) throw new Error('expected a node of a parsed document');
  return [range[0], range[1]];
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trimEnd();
}
