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
  validate,
} from 'graphql';
import { ConfigError } from '../config-error.ts';
import { checkDocument, lineOf } from './documents.ts';
import { clientsHit, type HitClient, type RecordedUsage } from './recorded-usage.ts';
import { omission, usesIn } from './schema-uses.ts';

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

function evidenceOf({ file, name, id, text }: ClientDocument, before: GraphQLSchema, after: GraphQLSchema) {
  const { document, faults } = checkDocument(before, text);
  if (document === undefined) throw new ConfigError(...faults.map((fault) => `${file}: ${lineOf(fault)}`));
  const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition');
  const names = operations.flatMap((one) => one.name?.value ?? []);
  return {
    document: `${file}: ${names.length === 0 ? name : names.join(', ')}`,
    id,
    operations: names,
    uses: usesIn(before, document),
    // No change is to blame for a document that was not valid before. Its fragments may be in another file, for example.
    errors: faults.length === 0 ? validate(after, document).map(lineOf) : [],
  };
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

/** The types of breaking changes that are not traced to uses. */
const untraced: ReadonlySet<SchemaChange['type']> = new Set([
  'TYPE_REMOVED_FROM_UNION',
  'DIRECTIVE_REPEATABLE_REMOVED',
  'DIRECTIVE_LOCATION_REMOVED',
]);

/**
 * Matches graphql's description of a traced change, such as `Enum value Colour.RED was removed.` The first group is the
 * changed element. The second group is the interface that a type has lost.
 */
const traced = /^(?:[A-Za-z ]+? )??(\S+) (?:(?:was|has|changed|defaultValue) |no longer implements interface (\S+)\.$)/;

/**
 * The subjects of a change; none if changes of its type are not traced. They are read from the description, because
 * graphql gives them in no other form. Throws if the wording is unknown.
 */
function subjectsOf(type: SchemaChange['type'], description: string): readonly string[] {
  const isTraced = (type in BreakingChangeType && !untraced.has(type)) || type.endsWith('DEFAULT_VALUE_CHANGE');
  if (!isTraced) return [];
  const [, first, second] = traced.exec(description) ?? [];
  if (first === undefined) throw new Error(`expected another description of ${type}, but got: ${description}`);
  return second === undefined ? [first] : [first, second];
}
