import { setImmediate } from 'node:timers/promises';
import { stripIgnoredCharacters } from 'graphql';
import { ConfigError } from '../../config-error.ts';
import type { PreparedOperation, PrepareListed } from '../document.ts';
import { RefusedDocument } from '../request-error.ts';
import type { ManifestEntry } from './manifest.ts';

/** Counters of a listed document, which last as long as it is listed. */
export interface DocumentCounts {
  readonly id: string;
  hits: number;
  /** The number of answers with at least one error. */
  errors: number;
  restCalls: number;
}

/** A listed document. If it is valid, all of its operations are prepared. */
export interface ListedDocument {
  readonly id: string;
  readonly text: string;
  /** The text without characters that GraphQL ignores. */
  readonly bare: string;
  readonly file: string;
  /** The operations of the document, or its errors if it is not valid. */
  readonly operations: readonly PreparedOperation[] | RefusedDocument;
  readonly counts: DocumentCounts;
}

interface ValidDocument extends ListedDocument {
  readonly operations: readonly PreparedOperation[];
}

/** The documents of all manifests. A reload makes a new set. */
export interface DocumentSet {
  readonly byId: ReadonlyMap<string, ListedDocument>;
  /** Valid documents by their listed text, and by that text without white space, commas and comments. */
  readonly byText: ReadonlyMap<string, ValidDocument>;
  readonly longest: number;
  /** The documents that are not valid: file, id and error of each. */
  readonly problems: readonly string[];
}

/** The documents of a gateway without a manifest. */
export const noDocuments: DocumentSet = { byId: new Map(), byText: new Map(), longest: 0, problems: [] };

/**
 * Prepares the documents of manifests, and lets requests be answered between two documents. Rejects with a ConfigError
 * if one id has two texts. Requests for an invalid document are answered with its errors. Documents that `previous` has
 * prepared are taken from it.
 */
export async function prepareSet(
  entries: readonly ManifestEntry[],
  prepare: PrepareListed,
  previous: DocumentSet,
): Promise<DocumentSet> {
  const byId = new Map<string, ListedDocument>();
  const byText = new Map<string, ValidDocument>();
  const problems: string[] = [];
  let longest = 0;
  for (const { id, aliases, text, file } of entries) {
    // Texts are compared without white space at their ends, because a GraphQL file also has the id of its trimmed text.
    for (const name of [id, ...aliases]) {
      const known = byId.get(name);
      if (known !== undefined && known.text.trim() !== text.trim()) throw twoTexts(name, known.file, file);
    }
    if (byId.has(id)) continue;
    const operations =
      previous.byText.get(text)?.operations ?? byText.get(text)?.operations ?? prepareOne(prepare, text);
    const bare = withoutIgnored(text) ?? text;
    const before = previous.byId.get(id);
    const counts = before?.id === id ? before.counts : { id, hits: 0, errors: 0, restCalls: 0 };
    const document = { id, text, bare, file, operations, counts };
    for (const name of [id, ...aliases]) if (!byId.has(name)) byId.set(name, document);
    longest = Math.max(longest, text.length);
    if (operations instanceof RefusedDocument) problems.push(problemOf(file, id, operations));
    else for (const key of [text, bare]) byText.set(key, { ...document, operations });
    await setImmediate();
  }
  return { byId, byText, longest, problems };
}

/** The documents of a set, each once, although it may have several ids. */
export function documentsOf({ byId }: DocumentSet): readonly ListedDocument[] {
  return [...new Set(byId.values())];
}

/** Finds the listed document with this text, apart from white space and comments. */
export function listedByText({ byText, longest }: DocumentSet, text: string): ListedDocument | undefined {
  const exact = byText.get(text);
  if (exact !== undefined || isFarLonger(text, longest)) return exact;
  const bare = withoutIgnored(text);
  return bare === undefined ? undefined : byText.get(bare);
}

/** True if two texts are equal apart from white space and comments. */
export function isTextOf({ text, bare }: ListedDocument, other: string): boolean {
  return other === text || (!isFarLonger(other, text.length) && withoutIgnored(other) === bare);
}

/** True if a text is too long to be a listed one. Such a text is not parsed, because attackers could send many. */
function isFarLonger(text: string, length: number): boolean {
  return text.length > length * 10 + 1000;
}

/** The text without insignificant white space, commas and comments; undefined if it is no GraphQL. */
function withoutIgnored(text: string): string | undefined {
  try {
    return stripIgnoredCharacters(text);
  } catch {
    return undefined;
  }
}

function prepareOne(prepare: PrepareListed, text: string): ListedDocument['operations'] {
  try {
    return prepare(text);
  } catch (error) {
    if (error instanceof RefusedDocument) return error;
    throw error;
  }
}

/** The most characters of errors in a message about an invalid document. A manifest may come from another server. */
const longestProblem = 1000;

function problemOf(file: string, id: string, { errors }: RefusedDocument): string {
  const messages = errors.map(({ message }) => message).join(' ');
  return `${file}: ${shortened(id, longestId)}: ${shortened(messages, longestProblem)}`;
}

/** The most characters of an id in the log. A SHA-256 is shorter. */
const longestId = 100;

function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}

function twoTexts(id: string, file: string, other: string): ConfigError {
  const where = file === other ? file : `${file} and ${other}`;
  return new ConfigError(`${where}: the id ${JSON.stringify(shortened(id, longestId))} has two different documents`);
}
