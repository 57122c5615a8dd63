import { readFileSync } from 'node:fs';
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import { ConfigError } from '../config-error.ts';
import type { CursorCodec } from '../context.ts';
import { unreadableBecause } from '../error-text.ts';
import { createCursorCodec } from '../graphql/cursors.ts';
import { parseDocument, validationErrors } from '../operation/parse-document.ts';
import { readFiles, readManifest } from '../operation/persisted/manifest.ts';
import { RefusedDocument } from '../operation/request-error.ts';
import { isObject, type JsonObject, jsonIn } from '../rest/values.ts';
import type { PlainConfig } from '../settings/config.ts';
import { cursorSecretOf } from '../settings/config.ts';

/** The text of a file that was named as an argument. Throws a ConfigError if it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file}: ${unreadableBecause(error)}`);
  }
}

/** The JSON object in a file. Throws a ConfigError that names what was `expected` if the file holds anything else. */
export function readJsonObject(file: string, expected: string): JsonObject {
  const value = jsonIn(readText(file));
  if (isObject(value)) return value;
  throw new ConfigError(`${file}: expected ${expected}`);
}

/**
 * The documents that a path or a glob names, as in PERSISTED_DOCUMENTS. Throws a ConfigError if a file cannot be read
 * or understood, or if it lists no documents. An empty list is an error, because a build may have lost its documents.
 * `name` is the id in the file, or `document` if the file is a single document. `id` is what clients send instead of
 * the text.
 */
export function documentFilesAt(pattern: string): readonly {
  readonly file: string;
  readonly documents: readonly Readonly<Record<'name' | 'id' | 'text', string>>[];
}[] {
  return readFiles(pattern).map(({ file, text }) => {
    const entries = readManifest(file, text);
    if (entries.length === 0) throw new ConfigError(`${file}: expected documents, but it lists none`);
    const isOne = /\.(?:graphql|gql)$/i.test(file);
    return {
      file,
      documents: entries.map(({ id, text: content }) => ({ name: isOne ? 'document' : id, id, text: content })),
    };
  });
}

/** The maximum number of errors that are reported for a document. This is also graphql's default. */
const maxErrors = 100;

/**
 * Parses and validates a document, as a gateway without limits does. The document is undefined if the text is not
 * GraphQL, and valid if it has no faults.
 */
export function checkDocument(
  schema: GraphQLSchema,
  text: string,
): { readonly document: DocumentNode | undefined; readonly faults: readonly GraphQLError[] } {
  try {
    const document = parseDocument(text);
    return { document, faults: validationErrors(document, { schema, introspection: true, maxErrors }) };
  } catch (error) {
    if (error instanceof RefusedDocument) return { document: undefined, faults: error.errors };
    throw error;
  }
}

/** An error of a document in one line, with its place. */
export function lineOf({ message, locations }: GraphQLError): string {
  const [at] = locations ?? [];
  return at === undefined ? message : `${at.line}:${at.column} ${message}`;
}

/** The codec for the cursors of a gateway that has these settings. */
export function cursorsOf({
  cursorSecret,
  upstreamUrl,
  workspace,
}: Pick<PlainConfig, 'cursorSecret' | 'upstreamUrl' | 'workspace'>): CursorCodec {
  // The embedded workspace listens on this address, whatever HOST says.
  const embeddedUrl = `http://127.0.0.1:${workspace.port}`;
  return createCursorCodec(cursorSecretOf(cursorSecret, upstreamUrl ?? embeddedUrl));
}
