import { stripIgnoredCharacters } from 'graphql';
import type { ListedOperations, PrepareListed } from '../document.ts';
import { RefusedDocument } from '../request-error.ts';
import { type ManifestEntry, ManifestError } from './manifest.ts';
import type { DocumentUse, DocumentUses } from './uses.ts';

/** A document that its owner listed: every operation of it is prepared. */
export interface ListedDocument {
  readonly id: string;
  readonly text: string;
  /** The text without what GraphQL ignores. */
  readonly bare: string;
  readonly file: string;
  readonly operations: ListedOperations;
  readonly use: DocumentUse;
}

/** The documents of all manifests at one time. It never changes: a reload makes another. */
export interface DocumentSet {
  readonly byId: ReadonlyMap<string, ListedDocument>;
  /** By the text as it is listed, and by the text without what GraphQL ignores. */
  readonly byText: ReadonlyMap<string, ListedDocument>;
  /** Length of the longest text. */
  readonly longest: number;
  /** What is wrong with documents that are listed but not valid: file, id and error. */
  readonly problems: readonly string[];
}

/** The documents of a gateway without a manifest. */
export const noDocuments: DocumentSet = { byId: new Map(), byText: new Map(), longest: 0, problems: [] };

/** What a set is made with. `previous` lends what it has prepared already. */
export interface DocumentSetOptions {
  readonly prepare: PrepareListed;
  readonly uses: DocumentUses;
  readonly previous: DocumentSet;
}

/**
 * Prepares the documents of manifests, one in each step, so that a reload can let other work in between. Throws
 * a ManifestError if one id has two texts. Documents that are not valid are in the set: they answer what is wrong.
 */
export function* prepareSet(
  entries: readonly ManifestEntry[],
  { prepare, uses, previous }: DocumentSetOptions,
): Generator<void, DocumentSet> {
  const byId = new Map<string, ListedDocument>();
  const byText = new Map<string, ListedDocument>();
  const problems: string[] = [];
  let longest = 0;
  for (const { id, aliases, text, file } of entries) {
    const known = byId.get(id);
    if (known !== undefined && known.text !== text) throw twoTexts(id, known.file, file);
    if (known !== undefined) continue;
    const prepared = previous.byText.get(text)?.operations ?? byText.get(text)?.operations ?? prepareOne(prepare, text);
    if ('refused' in prepared) problems.push(problemOf(file, id, prepared.refused));
    const use = uses.of(id);
    const operations = 'refused' in prepared ? refusing(prepared.refused, use) : prepared;
    const bare = withoutIgnored(text) ?? text;
    const document = { id, text, bare, file, operations, use };
    for (const name of [id, ...aliases]) byId.set(name, document);
    longest = Math.max(longest, text.length);
    if (!('refused' in prepared)) for (const key of [text, bare]) byText.set(key, document);
    yield;
  }
  return { byId, byText, longest, problems };
}

/** The listed document that a text is, white space and comments aside; undefined if there is none. */
export function listedByText({ byText, longest }: DocumentSet, text: string): ListedDocument | undefined {
  const exact = byText.get(text);
  if (exact !== undefined || isFarLonger(text, longest)) return exact;
  const bare = withoutIgnored(text);
  return bare === undefined ? undefined : byText.get(bare);
}

/** True if a text is this document, white space and comments aside. */
export function isTextOf({ text, bare }: ListedDocument, other: string): boolean {
  return other === text || (!isFarLonger(other, text.length) && withoutIgnored(other) === bare);
}

/** Reading through a long text only to refuse it would be a present to attackers. */
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

interface Refused {
  readonly refused: RefusedDocument;
}

function prepareOne(prepare: PrepareListed, text: string): ListedOperations | Refused {
  try {
    return prepare(text);
  } catch (error) {
    if (error instanceof RefusedDocument) return { refused: error };
    throw error;
  }
}

/** A client that asks for a document that is not valid learns why. It is counted here: no later step knows which it was. */
function refusing(refused: RefusedDocument, use: DocumentUse): ListedOperations {
  return () => {
    use.hits += 1;
    use.errors += 1;
    throw refused;
  };
}

/** The longest text of what is wrong with a document, in characters: a manifest may come from another server. */
const longestProblem = 1000;

function problemOf(file: string, id: string, { errors }: RefusedDocument): string {
  const messages = errors.map(({ message }) => message).join(' ');
  return `${file}: ${shortened(id, longestId)}: ${shortened(messages, longestProblem)}`;
}

/** The longest id in a line of the log, in characters. A SHA-256 is shorter. */
const longestId = 100;

function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}

function twoTexts(id: string, file: string, other: string): ManifestError {
  const where = file === other ? file : `${file} and ${other}`;
  return new ManifestError(`${where}: the id ${JSON.stringify(shortened(id, longestId))} has two different documents`);
}
