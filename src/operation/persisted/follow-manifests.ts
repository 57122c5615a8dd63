import { setImmediate } from 'node:timers/promises';
import { type FollowedFiles, fingerprint, followFiles } from '../../follow-files.ts';
import type { Log } from '../../log.ts';
import type { PrepareListed } from '../document.ts';
import { type DocumentSet, type ListedDocument, noDocuments, prepareSet } from './document-set.ts';
import { type ManifestEntry, ManifestError, readManifest } from './manifest.ts';
import { globOf, readFiles, sourcesOf } from './manifest-files.ts';
import type { RemoteManifests } from './remote-manifests.ts';
import type { DocumentMode } from './resolve.ts';
import type { DocumentUses } from './uses.ts';

/** Sources and collaborators of the listed documents. */
export interface FollowManifestsOptions {
  /** Paths of files and folders, globs and URLs, separated by commas. */
  readonly files: string;
  readonly remote?: RemoteManifests | undefined;
  /** True if one invalid document makes the whole list unusable. */
  readonly strict: boolean;
  /** The mode. In the mode `only`, a reload that loses most of the documents is refused. */
  readonly mode: DocumentMode;
  readonly pollMs?: number | undefined;
  /** Throws a ManifestError if the documents do not fit their other users, such as the tools of agents. */
  readonly check?: ((set: DocumentSet) => void) | undefined;
  readonly prepare: PrepareListed;
  readonly uses: DocumentUses;
  readonly log: Log;
}

/** The documents of the manifests as they are now. */
export interface FollowedManifests extends FollowedFiles {
  readonly current: () => DocumentSet;
}

/**
 * Reads and prepares every listed document, then follows the files. Throws a ManifestError if a manifest cannot be used
 * at the start. Later, a new set replaces the old one when all of its documents are prepared. A list that cannot be
 * used then changes nothing.
 */
export function followManifests(given: FollowManifestsOptions): FollowedManifests {
  const { pollMs, log, uses, remote } = given;
  const patterns = sourcesOf(given.files).patterns.map(globOf);
  const options = { ...given, patterns };
  const since = fingerprint(patterns);
  let current = finish(steps(options, noDocuments));
  report(options, current, 'read');
  const read = async (): Promise<void> => {
    try {
      const next = await finishInPieces(steps(options, current));
      if (options.mode === 'only') checkShrinking(documentsOf(current).size, documentsOf(next).size);
      current = next;
      report(options, current, 'read again');
    } finally {
      uses.keep(new Set([...current.byId.values()].map(({ id }) => id)));
    }
  };
  const followed = followFiles({
    name: 'persisted documents',
    patterns: () => patterns,
    since,
    pollMs,
    read,
    log,
  });
  remote?.onChange(() => void followed.reload());
  return { current: () => current, ...followed };
}

interface ReadOptions extends FollowManifestsOptions {
  readonly patterns: readonly string[];
}

/** The documents that are listed now. Throws a ManifestError if a manifest cannot be used. */
export function entriesIn({ patterns, remote }: Pick<ReadOptions, 'patterns' | 'remote'>): readonly ManifestEntry[] {
  const files = [...patterns.flatMap(readFiles), ...(remote?.current() ?? [])];
  return files.flatMap(({ file, text }) => readManifest(file, text));
}

function* steps(options: ReadOptions, previous: DocumentSet): Generator<void, DocumentSet> {
  const entries = entriesIn(options);
  const set = yield* prepareSet(entries, { ...options, previous });
  if (options.strict && set.problems.length > 0) {
    throw new ManifestError(`documents that are not valid: ${set.problems.join('; ')}`);
  }
  options.check?.(set);
  return set;
}

/**
 * Throws a ManifestError if a reload loses more than half of the documents. An empty file is more often a failed
 * deployment than a decision to refuse every document.
 */
function checkShrinking(before: number, now: number): void {
  if (now * 2 >= before) return;
  const expected = `expected at least half of the ${before} documents in use, because PERSISTED_DOCUMENTS_MODE is only`;
  throw new ManifestError(`${expected}, but got ${now}; a restart takes them`);
}

/** The distinct documents of a set. A document may have several ids. */
function documentsOf({ byId }: DocumentSet): ReadonlySet<ListedDocument> {
  return new Set(byId.values());
}

function finish(work: Generator<void, DocumentSet>): DocumentSet {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Prepares the documents of a set and lets requests be answered in between. */
async function finishInPieces(work: Generator<void, DocumentSet>): Promise<DocumentSet> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await setImmediate();
  }
}

function report({ patterns, remote, log }: ReadOptions, set: DocumentSet, what: string): void {
  const { problems } = set;
  const documents = documentsOf(set);
  const counts = [...documents].map(({ operations }) => ('count' in operations ? operations.count : 0));
  for (const problem of problems) log('warn', `persisted document is not valid: ${problem}`);
  log('info', `persisted documents ${what}`, {
    files: [...patterns, ...(remote?.current() ?? []).map(({ file }) => file)].join(', '),
    documents: documents.size,
    operations: counts.reduce((sum, count) => sum + count, 0),
    invalid: problems.length,
  });
}
