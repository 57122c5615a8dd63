import { GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { ConfigError } from '../settings/settings.ts';
import { lineOf } from './documents.ts';
import { clientsHit, type HitClient, type RecordedUsage } from './recorded-usage.ts';
import { type Change, changesBetween } from './schema-changes.ts';
import { type Uses, usesOf } from './schema-uses.ts';

/** A client's document that is checked against the new schema. */
export interface Client {
  readonly file: string;
  /** The name in the file, for documents whose operations have no names. */
  readonly name: string;
  readonly id: string;
  readonly text: string;
}

/** The changes between two schemas, and their effects on documents. */
export interface Findings {
  readonly changes: readonly Judged[];
  /** Documents that no longer fit the schema although no change explains it, with one line for each error. */
  readonly invalid: readonly { readonly document: string; readonly errors: readonly string[] }[];
  /** The number of documents that were given; undefined if the option was not used. */
  readonly documents: number | undefined;
}

/** A change, and the documents that it breaks. */
export interface Judged extends Omit<Change, 'broken'> {
  readonly usedBy: readonly string[];
  /**
   * Clients that have used what the change breaks. Undefined if no usage was given, or if the change breaks nothing.
   */
  readonly clients?: readonly HitClient[];
}

/** Finds the effects of the changes. Throws a ConfigError for a document that cannot be parsed. */
export function findingsOf(
  before: GraphQLSchema,
  after: GraphQLSchema,
  clients: readonly Client[] | undefined,
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

/** The facts about one document that show the effects of changes. */
interface Evidence {
  readonly document: string;
  readonly id: string;
  /** The names of its operations. */
  readonly operations: readonly string[];
  readonly uses: Uses;
  /** Its errors that only the new schema causes. */
  readonly errors: readonly string[];
}

function evidenceOf({ file, name, id, text }: Client, before: GraphQLSchema, after: GraphQLSchema): Evidence {
  const document = parseOf(file, text);
  const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition');
  const names = operations.flatMap((one) => one.name?.value ?? []);
  // A change does not cause errors that the old schema gives too: a fragment of the document may be in another file.
  const wasValid = validate(before, document).length === 0;
  return {
    document: `${file}: ${names.length === 0 ? name : names.join(', ')}`,
    id,
    operations: names,
    uses: usesOf(before, document),
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
