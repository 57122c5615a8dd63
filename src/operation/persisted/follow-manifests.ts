import { type FollowedFiles, fingerprint, followFiles } from '../../follow-files.ts';
import type { Log } from '../../log.ts';
import type { PrepareListed } from '../document.ts';
import { RefusedDocument } from '../request-error.ts';
import { type DocumentSet, documentsOf, noDocuments, prepareSet } from './document-set.ts';
import { globOf, type ManifestEntry, ManifestError, readFiles, readManifest, sourcesOf } from './manifest.ts';
import type { RemoteManifests } from './remote-manifests.ts';
import type { DocumentMode } from './resolve.ts';

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
  readonly log: Log;
}

/** The documents of the manifests as they are now. */
export interface FollowedManifests extends FollowedFiles {
  readonly current: () => DocumentSet;
}

/**
 * Reads and prepares every listed document, then follows the files. Rejects with a ManifestError if a manifest cannot be
 * used at the start. Later, a new set replaces the old one when all of its documents are prepared. A list that cannot be
 * used then changes nothing.
 */
export async function followManifests(options: FollowManifestsOptions): Promise<FollowedManifests> {
  const { files, mode, strict, pollMs, log, remote, prepare, check } = options;
  const patterns = sourcesOf(files).patterns.map(globOf);
  const prepared = async (previous: DocumentSet): Promise<DocumentSet> => {
    const set = await prepareSet(entriesIn({ patterns, remote }), prepare, previous);
    if (strict && set.problems.length > 0)
      throw new ManifestError(`documents that are not valid: ${set.problems.join('; ')}`);
    check?.(set);
    return set;
  };
  const report = (what: string): void => {
    const documents = documentsOf(current);
    const counts = documents.map(({ operations }) => (operations instanceof RefusedDocument ? 0 : operations.length));
    for (const problem of current.problems) log('warn', `persisted document is not valid: ${problem}`);
    log('info', `persisted documents ${what}`, {
      files: [...patterns, ...(remote?.current() ?? []).map(({ file }) => file)].join(', '),
      documents: documents.length,
      operations: counts.reduce((sum, count) => sum + count, 0),
      invalid: current.problems.length,
    });
  };
  const since = fingerprint(patterns);
  const started = Promise.withResolvers<FollowedFiles>();
  remote?.onChange(() => void started.promise.then(({ reload }) => reload()));
  let current = await prepared(noDocuments);
  report('read');
  const read = async (): Promise<void> => {
    const next = await prepared(current);
    if (mode === 'only') checkShrinking(documentsOf(current).length, documentsOf(next).length);
    current = next;
    report('read again');
  };
  const followed = followFiles({ name: 'persisted documents', patterns: () => patterns, since, pollMs, read, log });
  started.resolve(followed);
  return { current: () => current, ...followed };
}

/** The documents that are listed now. Throws a ManifestError if a manifest cannot be used. */
export function entriesIn(sources: {
  readonly patterns: readonly string[];
  readonly remote: RemoteManifests | undefined;
}): readonly ManifestEntry[] {
  const { patterns, remote } = sources;
  const files = [...patterns.flatMap(readFiles), ...(remote?.current() ?? [])];
  return files.flatMap(({ file, text }) => readManifest(file, text));
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
