import { createTwoFilesPatch } from 'diff';
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, stringify, type YAMLMap } from 'yaml';
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
 * A unified diff of an OpenAPI document. It removes the differences between the document and the answers. Lines that
 * need no change keep their form. Differences are left out if the document does not describe the place where they were
 * found.
 */
export function patchOf(openapi: string, differences: readonly Difference[]): string {
  const result = corrected(openapi, differences);
  if (result === openapi) return '';
  const options = { context: contextLines };
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, openapi, result, undefined, undefined, options);
  return patch.replace(/^=+\n/, '');
}

function corrected(openapi: string, differences: readonly Difference[]): string {
  const document = parseDocument(openapi);
  const groups = groupsOf(document, differences);
  const edits = groups.flatMap((one) => editFor(document, openapi, one, groups) ?? []);
  // The last edit is made first, so that the places of the others do not move. Edits at one place keep their order.
  return edits
    .toSorted((one, other) => one.start - other.start)
    .reduceRight((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), openapi);
}

/**
 * Groups the differences that one edit removes. A column of a list view usually refers to the same column of the detail
 * view, so one schema may have differences from several views.
 */
function groupsOf(document: Document, differences: readonly Difference[]): readonly DifferenceGroup[] {
  const found = new Map<YAMLMap, Map<string, GrowingGroup>>();
  for (const difference of differences) {
    const { view, column, value } = difference;
    const schema = schemaOf(document, difference);
    if (schema === undefined) continue;
    const kind = difference.kind === 'unexpected_null' ? 'wrong_type' : difference.kind;
    const ofSchema = found.get(schema) ?? new Map<string, GrowingGroup>();
    found.set(schema, ofSchema);
    const name = kind === 'unknown_column' ? `${kind} ${column}` : kind;
    const known = ofSchema.get(name) ?? { kind, schema, view, column, types: new Set(), values: new Set() };
    ofSchema.set(name, known);
    if (value !== undefined) known.types.add(typeOf(value));
    if (known.values.size < mostValues) known.values.add(value);
  }
  return [...found.values()].flatMap((ofSchema) => [...ofSchema.values()]);
}

/**
 * The schema to which a difference belongs. For a new column, this is the map of its view's columns. Undefined if the
 * document has no such schema.
 */
function schemaOf(document: Document, { kind, view, column, isItem }: Difference): YAMLMap | undefined {
  const columns = document.getIn(['components', 'schemas', view, 'properties'], true);
  if (!isMap(columns)) return undefined;
  if (kind === 'unknown_column') return columns;
  const found = target(document, columns.get(column, true));
  const schema = isItem && isMap(found) ? target(document, found.get('items', true)) : found;
  return isMap(schema) ? schema : undefined;
}

interface DifferenceGroup extends Pick<Difference, 'view' | 'column'> {
  readonly kind: Exclude<Difference['kind'], 'unexpected_null'>;
  readonly schema: YAMLMap;
  readonly types: ReadonlySet<JsonType>;
  readonly values: ReadonlySet<unknown>;
}

interface GrowingGroup extends DifferenceGroup {
  readonly types: Set<JsonType>;
  readonly values: Set<unknown>;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The description of a column that the document did not have. */
const newColumn = 'Seen in answers, and not documented.';

/** The edit that removes a group of differences; undefined if the form of its schema is not known. */
function editFor(
  document: Document,
  text: string,
  group: DifferenceGroup,
  all: readonly DifferenceGroup[],
): Edit | undefined {
  const { kind, schema, types, values } = group;
  switch (kind) {
    case 'unknown_column':
      return addColumn(document, text, group, all);
    case 'missing_column':
      return addMember(text, schema, 'writeOnly: true');
    case 'unknown_enum':
      return append(schema.get('x-known-values', true) ?? schema.get('enum', true), [...values].map(yamlOf));
    case 'wrong_type':
      return widen(schema, types);
  }
}

/** Resolves a `$ref`. Returns any other node unchanged. */
function target(document: Document, node: unknown): unknown {
  const reference = isMap(node) ? node.get('$ref') : undefined;
  return typeof reference === 'string' ? document.getIn(reference.split('/').slice(1), true) : node;
}

/**
 * Adds a column after the last one. A column of a list view refers to the same column of the detail view, if the detail
 * view has that column or gets it by the same patch. Any other column gets a definition of its own.
 */
function addColumn(
  document: Document,
  text: string,
  { view, column, types, schema }: DifferenceGroup,
  all: readonly DifferenceGroup[],
): Edit {
  const detail = view.replace(/ListItem$/, '');
  const isKnown =
    document.hasIn(['components', 'schemas', detail, 'properties', column]) ||
    all.some((one) => one.kind === 'unknown_column' && one.view === detail && one.column === column);
  const reference = `{ $ref: '#/components/schemas/${detail}/properties/${column}' }`;
  const definition = detail !== view && isKnown ? reference : definitionOf(types);
  const end = text.slice(0, rangeOf(schema)[1]).trimEnd().length;
  return { start: end, end, text: `\n${indentOf(text, schema)}${yamlOf(column)}: ${definition}` };
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

/** The edit that lets a schema allow further types. Adds them to `anyOf` if the schema has it, otherwise to `type`. */
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

function rangeOf({ range }: Node): readonly [start: number, end: number] {
  if (range === undefined || range === null) throw new Error('expected a node of a parsed document');
  return [range[0], range[1]];
}

function yamlOf(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trimEnd();
}
