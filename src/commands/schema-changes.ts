import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  GraphQLError,
  type GraphQLSchema,
  isInterfaceType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
  resolveSchemaCoordinate,
  type SchemaChange,
  validate,
} from 'graphql';
import { ConfigError } from '../config-error.ts';
import { lineOf } from './documents.ts';
import { clientsHit, type HitClient, type RecordedUsage } from './recorded-usage.ts';
import { omission, type Uses, usesIn } from './schema-uses.ts';

/** The severity of a change: requests may fail, clients may get unexpected answers, or neither. */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** A client's document that is checked against the new schema. */
export interface ClientDocument {
  readonly file: string;
  /** The document's name in the file. Messages show it if the operations of the document have no names. */
  readonly name: string;
  readonly id: string;
  readonly text: string;
}

export interface Findings {
  readonly changes: readonly ChangeImpact[];
  /** Documents that no longer fit the schema although no change explains it, with one line for each error. */
  readonly invalid: readonly { readonly document: string; readonly errors: readonly string[] }[];
  /** The number of documents that were given; undefined if the option was not used. */
  readonly documents: number | undefined;
}

/** A change, and the documents that it breaks. */
export interface ChangeImpact extends Omit<Change, 'broken'> {
  readonly usedBy: readonly string[];
  /**
   * Clients that have used what the change breaks. Undefined if no usage was given, or if the change is not breaking.
   */
  readonly clients?: readonly HitClient[];
}

/** Finds the effects of the changes. Throws a ConfigError for a document that cannot be parsed. */
export function findingsOf(
  before: GraphQLSchema,
  after: GraphQLSchema,
  clients: readonly ClientDocument[] | undefined,
  usage?: RecordedUsage,
): Findings {
  const evidence = (clients ?? []).map((client) => evidenceOf(client, before, after));
  const changes = changesBetween(before, after).map(({ broken, ...change }) => {
    const users = evidence.filter(({ uses }) => broken.some((use) => uses.has(use)));
    const usedBy = users.map(({ document }) => document);
    if (usage === undefined || change.severity !== 'breaking') return { ...change, usedBy };
    return { ...change, usedBy, clients: clientsHit(usage, broken, users) };
  });
  const explained = new Set(changes.flatMap(({ usedBy }) => usedBy));
  const invalid = evidence
    .filter(({ document, errors }) => errors.length > 0 && !explained.has(document))
    .map(({ document, errors }) => ({ document, errors }));
  return { changes, invalid, documents: clients?.length };
}

/** True if a document is broken. If no documents were given, true if any change is breaking. */
export function isBroken({ changes, invalid, documents }: Findings): boolean {
  const breaking = changes.filter(({ severity }) => severity === 'breaking');
  return invalid.length > 0 || breaking.some(({ usedBy }) => documents === undefined || usedBy.length > 0);
}

interface Evidence {
  readonly document: string;
  readonly id: string;
  readonly operations: readonly string[];
  readonly uses: Uses;
  /** The document's errors by the new schema; empty if the document has errors by the old schema, too. */
  readonly errors: readonly string[];
}

function evidenceOf({ file, name, id, text }: ClientDocument, before: GraphQLSchema, after: GraphQLSchema): Evidence {
  const document = parseOf(file, text);
  const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition');
  const names = operations.flatMap((one) => one.name?.value ?? []);
  // No change is to blame for a document that was not valid before. Its fragments may be in another file, for example.
  const wasValid = validate(before, document).length === 0;
  return {
    document: `${file}: ${names.length === 0 ? name : names.join(', ')}`,
    id,
    operations: names,
    uses: usesIn(before, document),
    errors: wasValid ? validate(after, document).map(lineOf) : [],
  };
}

function parseOf(file: string, text: string): ReturnType<typeof parse> {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof GraphQLError ? new ConfigError(`${file}: ${lineOf(error)}`) : error;
  }
}

interface Change {
  readonly severity: Severity;
  readonly type: SchemaChange['type'];
  readonly description: string;
  /** The uses that the change breaks. A document with one of them is broken. Empty unless the change is breaking. */
  readonly broken: readonly string[];
}

function changesBetween(before: GraphQLSchema, after: GraphQLSchema): readonly Change[] {
  return findSchemaChanges(before, after).map(({ type, description }) => {
    const subjects = subjectsOf(type, description);
    const required = subjects.flatMap((subject) => newlyRequired(before, after, subject));
    // graphql does not call the change breaking if the newly required argument or field had a default before.
    const severity = required.length > 0 ? 'breaking' : severityOf(type);
    const broken = severity === 'breaking' ? [...required, ...usesOf(before, type, subjects)] : [];
    return { severity, type, description, broken };
  });
}

function severityOf(type: SchemaChange['type']): Severity {
  if (type in BreakingChangeType) return 'breaking';
  return type in DangerousChangeType ? 'dangerous' : 'safe';
}

/**
 * The uses that a breaking change breaks, found from the subjects of the change. A change without subjects has no such
 * uses. Then only validation finds the broken documents, for example one with a fragment on a type that a union has
 * lost.
 */
function usesOf(before: GraphQLSchema, type: SchemaChange['type'], [first, second = '']: readonly string[]): string[] {
  if (type === 'IMPLEMENTED_INTERFACE_REMOVED') return fieldsOf(before, second);
  return first === undefined || type.endsWith('DEFAULT_VALUE_CHANGE') ? [] : [first];
}

/**
 * The fields of an interface; none for other types. A selection of these fields applies to all types that implement the
 * interface, so it breaks when a type loses the interface.
 */
function fieldsOf(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  return isInterfaceType(type) ? Object.values(type.getFields()).map(String) : [];
}

/**
 * The uses that break if an argument or an input field has become required. If it existed before, these are the uses
 * that leave it out. If it is new, these are all uses of its field, directive or input type.
 */
function newlyRequired(before: GraphQLSchema, after: GraphQLSchema, subject: string): readonly string[] {
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

/**
 * Patterns that match graphql's descriptions, for each type of change that is traced to uses. Each group of a pattern
 * matches a name or a coordinate.
 */
const descriptions: Readonly<Partial<Record<SchemaChange['type'], RegExp>>> = {
  TYPE_REMOVED: /^(?:Standard scalar )?(\S+) was removed/,
  TYPE_CHANGED_KIND: /^(\S+) changed from /,
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
  ARG_DEFAULT_VALUE_CHANGE: /^(\S+) (?:defaultValue was removed|has changed defaultValue )/,
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: /^(\S+) (?:defaultValue was removed|has changed defaultValue )/,
};

/**
 * The subjects of a change; none for a type of change without a pattern. They are read from the description, because
 * graphql gives them in no other form. Throws if the wording is unknown.
 */
function subjectsOf(type: SchemaChange['type'], description: string): readonly string[] {
  const pattern = descriptions[type];
  if (pattern === undefined) return [];
  const match = pattern.exec(description);
  if (match === null) throw new Error(`expected another description of ${type}, but got: ${description}`);
  return match.slice(1);
}
