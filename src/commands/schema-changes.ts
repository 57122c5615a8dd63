import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  isInterfaceType,
  isRequiredArgument,
  isRequiredInputField,
  resolveSchemaCoordinate,
  type SchemaChange,
} from 'graphql';
import { omission, overlap, placement, repetition } from './schema-uses.ts';

/** The severity of a change: requests may fail, clients may get unexpected answers, or neither. */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** A difference between two schemas. */
export interface Change {
  readonly severity: Severity;
  readonly type: SchemaChange['type'];
  readonly description: string;
  /** The uses that the change breaks. A document with one of them is broken. Empty unless the change is breaking. */
  readonly broken: readonly string[];
}

/** The changes from one schema to another, as graphql reports them. */
export function changesBetween(before: GraphQLSchema, after: GraphQLSchema): readonly Change[] {
  return findSchemaChanges(before, after).map(({ type, description }) => {
    const subjects = subjectsOf(type, description);
    const demands = subjects.flatMap((subject) => demandsOf(before, after, subject));
    // graphql calls the change only dangerous if the newly required argument or field had a default before.
    const severity = demands.length > 0 ? 'breaking' : severityOf(type);
    const broken = severity === 'breaking' ? [...demands, ...usesOf(before, type, subjects)] : [];
    return { severity, type, description, broken };
  });
}

function severityOf(type: SchemaChange['type']): Severity {
  if (type in BreakingChangeType) return 'breaking';
  return type in DangerousChangeType ? 'dangerous' : 'safe';
}

/** The uses that a breaking change of these subjects breaks. */
function usesOf(before: GraphQLSchema, type: SchemaChange['type'], subjects: readonly string[]): readonly string[] {
  const [first = '', second = ''] = subjects;
  return brokenUses[type]?.(first, second, before) ?? [first];
}

/** The uses that a change breaks, for types of changes that break more than uses of their first subject. */
const brokenUses: Readonly<
  Partial<Record<SchemaChange['type'], (first: string, second: string, before: GraphQLSchema) => readonly string[]>>
> = {
  TYPE_REMOVED_FROM_UNION: (type, union) => [overlap(type, union)],
  IMPLEMENTED_INTERFACE_REMOVED: (type, implemented, before) => [
    overlap(type, implemented),
    overlap(implemented, type),
    ...fieldsOf(before, implemented),
  ],
  ARG_DEFAULT_VALUE_CHANGE: () => [],
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: () => [],
  DIRECTIVE_REPEATABLE_REMOVED: (directive) => [repetition(directive)],
  DIRECTIVE_LOCATION_REMOVED: (location, directive) => [placement(directive, location)],
};

/** The fields of an interface; none for other types. A selection on an interface applies to all types that implement it. */
function fieldsOf(schema: GraphQLSchema, name: string): readonly string[] {
  const type = schema.getType(name);
  return isInterfaceType(type) ? Object.values(type.getFields()).map(String) : [];
}

/**
 * The uses that break if an argument or an input field has become required: all uses that leave it out. If it is new,
 * every use of its field or input type breaks.
 */
function demandsOf(before: GraphQLSchema, after: GraphQLSchema, subject: string): readonly string[] {
  if (!/[.(]/.test(subject) || isRequired(before, subject) || !isRequired(after, subject)) return [];
  const isNew = resolveSchemaCoordinate(before, subject) === undefined;
  return [isNew ? subject.replace(/\(.*|\.\w+$/, '') : omission(subject)];
}

function isRequired(schema: GraphQLSchema, coordinate: string): boolean {
  const found = resolveSchemaCoordinate(schema, coordinate);
  if (found?.kind === 'FieldArgument') return isRequiredArgument(found.fieldArgument);
  if (found?.kind === 'DirectiveArgument') return isRequiredArgument(found.directiveArgument);
  return found?.kind === 'InputField' && isRequiredInputField(found.inputField);
}

/** Patterns of graphql's descriptions of breaking and dangerous changes. Each group is a name or a coordinate. */
const descriptions: Readonly<Partial<Record<SchemaChange['type'], RegExp>>> = {
  TYPE_REMOVED: /^(?:Standard scalar )?(\S+) was removed/,
  TYPE_CHANGED_KIND: /^(\S+) changed from /,
  TYPE_REMOVED_FROM_UNION: /^(\S+) was removed from union type (\S+)\.$/,
  VALUE_REMOVED_FROM_ENUM: /^Enum value (\S+) was removed/,
  REQUIRED_INPUT_FIELD_ADDED: /^A required field (\S+) was added/,
  IMPLEMENTED_INTERFACE_REMOVED: /^(\S+) no longer implements interface (\S+)\.$/,
  FIELD_REMOVED: /^Field (\S+) was removed/,
  FIELD_CHANGED_KIND: /^Field (\S+) changed type /,
  REQUIRED_ARG_ADDED: /^A required argument (\S+) was added/,
  ARG_REMOVED: /^Argument (\S+) was removed/,
  ARG_CHANGED_KIND: /^Argument (\S+) has changed type /,
  DIRECTIVE_REMOVED: /^Directive (\S+) was removed/,
  DIRECTIVE_ARG_REMOVED: /^Argument (\S+) was removed/,
  REQUIRED_DIRECTIVE_ARG_ADDED: /^A required argument (\S+) was added/,
  DIRECTIVE_REPEATABLE_REMOVED: /^Repeatable flag was removed from (\S+)\.$/,
  DIRECTIVE_LOCATION_REMOVED: /^(\S+) was removed from (\S+)\.$/,
  ARG_DEFAULT_VALUE_CHANGE: /^(\S+) (?:defaultValue was removed|has changed defaultValue )/,
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: /^(\S+) (?:defaultValue was removed|has changed defaultValue )/,
};

/**
 * The subjects of a change, read from its description, because graphql gives them in no other form. Throws if the wording
 * is unknown.
 */
function subjectsOf(type: SchemaChange['type'], description: string): readonly string[] {
  const pattern = descriptions[type];
  if (pattern === undefined) return [];
  const match = pattern.exec(description);
  if (match === null) throw new Error(`expected another description of ${type}, but got: ${description}`);
  return match.slice(1);
}
