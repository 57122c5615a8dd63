import { globSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config-error.ts';
import { quoted } from '../../graphql/input-error.ts';
import { readTextFile } from '../../read-text.ts';
import { isList, isObject, type JsonObject, jsonIn } from '../../rest/values.ts';
import { hashOf, toDocumentId } from './ids.ts';

/** A document of a manifest. Its ids are normalised. */
export interface ManifestEntry {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly text: string;
  /** The manifest that lists it. */
  readonly file: string;
}

/** A manifest as it was read. `file` is its path, or its URL without the query. */
export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

/** The locations of manifests: paths of files and folders, globs, and URLs. */
export interface ManifestSources {
  readonly patterns: readonly string[];
  readonly urls: readonly string[];
}

/** Splits PERSISTED_DOCUMENTS at its commas, except within the braces of a glob. */
export function sourcesOf(members: string): ManifestSources {
  const all = members
    .split(/,(?![^{]*\})/)
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const { patterns = [], urls = [] } = Object.groupBy(all, (member) =>
    /^https?:\/\//i.test(member) ? 'urls' : 'patterns',
  );
  return { patterns, urls };
}

/** The documents of the manifests at these paths, folders and globs, and of `others`, which were read elsewhere. */
export function entriesIn(patterns: readonly string[], others: readonly ManifestFile[] = []): readonly ManifestEntry[] {
  return [...patterns.flatMap(readFiles), ...others].flatMap(({ file, text }) => readManifest(file, text));
}

/** The files at a path, in a folder or of a glob, sorted by name. Throws a ConfigError if there are none. */
export function readFiles(pattern: string): ManifestFile[] {
  return findFiles(pattern).map((file) => {
    const toError = (why: string) => new ConfigError(`${file}: expected a file that can be read, but ${why}`);
    return { file, text: readTextFile(file, toError) };
  });
}

function findFiles(pattern: string): string[] {
  if (statsOf(pattern)?.isDirectory() === false) return [pattern];
  const glob = globOf(pattern);
  const files = globSync(glob)
    .filter((file) => statsOf(file)?.isFile())
    .toSorted();
  if (files.length > 0) return files;
  throw new ConfigError(
    `${glob}: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none`,
  );
}

/** Converts a folder to the glob of the manifests and documents directly in it. */
export function globOf(path: string): string {
  return statsOf(path)?.isDirectory() === true ? join(path, '*.{json,graphql,gql}') : path;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The documents in a file: a manifest in JSON, or one document. Throws a ConfigError if it cannot be used. */
export function readManifest(file: string, text: string): ManifestEntry[] {
  if (/\.(?:graphql|gql)$/i.test(file)) return [ofGraphQL(file, text)];
  return ofJson(file, text).map(([id, document]) => ({ id: toDocumentId(id), aliases: [], text: document, file }));
}

type Pair = readonly [id: string, text: string];

/**
 * The document of a GraphQL file. It has two ids: editors end files with a line break, which clients may or may not
 * include in the text that they hash.
 */
function ofGraphQL(file: string, text: string): ManifestEntry {
  return { id: hashOf(text), aliases: [hashOf(text.trim())], text, file };
}

function ofJson(file: string, text: string): Pair[] {
  const value = jsonIn(text);
  if (value === undefined) throw unusable(file, 'it is not JSON');
  if (Array.isArray(value)) return value.map((pair, index) => ofPair(file, pair, index));
  if (!isObject(value)) throw unusable(file, 'expected an object or a list');
  if ('format' in value || Array.isArray(value['operations'])) return ofApollo(file, value);
  return Object.entries(value).map(([id, document]) => ofMember(file, id, document));
}

/**
 * The documents of a manifest of Apollo
 * (https://www.apollographql.com/docs/graphos/platform/security/persisted-queries#manifest-format).
 */
function ofApollo(file: string, { format, version, operations }: JsonObject): Pair[] {
  if (format !== 'apollo-persisted-query-manifest' || version !== 1) {
    const [shownFormat, shownVersion] = [format, version].map((member) =>
      member === undefined ? 'none' : quoted(member),
    );
    const found = `format ${shownFormat}, version ${shownVersion}`;
    throw unusable(file, `expected format "apollo-persisted-query-manifest", version 1, but got ${found}`);
  }
  if (!Array.isArray(operations)) throw unusable(file, 'expected `operations` to be a list');
  return operations.map((operation: unknown, index) => {
    const { id, body } = isObject(operation) ? operation : {};
    return toPair(file, id, body, `operations[${index}]`, '`id` and `body`');
  });
}

/** An element of `[[id, text], …]`, the form in which servers for Relay's remote persisting keep documents. */
function ofPair(file: string, pair: unknown, index: number): Pair {
  const [id, text]: readonly unknown[] = isList(pair) ? pair : [];
  return toPair(file, id, text, `[${index}]`, 'a pair of an id and a text');
}

/**
 * A member of `{id: text}` or of `{id: {name, source}}`. relay-compiler (`persistConfig.file`) and the client preset of
 * graphql-codegen (`persistedDocuments`) write the first form. Apollo iOS (`legacyAPQ`) and Apollo Kotlin
 * (`operationOutput`) write the second.
 */
function ofMember(file: string, id: string, value: unknown): Pair {
  const text = isObject(value) ? value['source'] : value;
  return toPair(file, id, text, quoted(id), 'a text, or an object with a `source`');
}

function toPair(file: string, id: unknown, text: unknown, where: string, expected: string): Pair {
  if (typeof id === 'string' && id !== '' && typeof text === 'string') return [id, text];
  throw unusable(file, `expected ${where} to be ${expected}`);
}

function unusable(file: string, reason: string): ConfigError {
  return new ConfigError(`${file}: ${reason}`);
}
