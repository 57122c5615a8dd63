import { ConfigError } from '../../config-error.ts';
import { type Changing, type Followed, follow } from '../../follow.ts';
import type { Log } from '../../log.ts';
import type { RedisSettings, SharedRedis } from '../../redis.ts';
import { createPrepareListed, type Prepare } from '../document.ts';
import type { Schemas } from '../execute.ts';
import { RefusedDocument } from '../request-error.ts';
import {
  type AutomaticCounts,
  createMemoryStore,
  createRedisStore,
  createRegistrations,
  type SharedTexts,
} from './automatic.ts';
import { type DocumentCounts, type DocumentSet, documentsOf, noDocuments, prepareSet } from './document-set.ts';
import { entriesIn, globOf, type ManifestFile, sourcesOf } from './manifest.ts';
import { createResolve, type DocumentMode, type ResolveDocument } from './resolve.ts';

/** Settings of persisted documents. */
export interface PersistedSettings extends RedisSettings {
  /** The manifests: paths of files and folders, globs and URLs, separated by commas; undefined if there are none. */
  readonly files?: string | undefined;
  /** By default `allow`. In the mode `only`, a reload that loses most of the documents is refused. */
  readonly mode?: DocumentMode;
  /** True if an invalid document keeps the gateway from starting. */
  readonly strict?: boolean;
  /** True if clients may register documents by their hash. By default they may in every mode but `only`. */
  readonly automatic?: boolean | undefined;
  /** The documents that clients registered with any process of this gateway. Unused if there is a Redis. */
  readonly sharedTexts?: SharedTexts | undefined;
  /** The seconds for which a client may keep the answer to a GET by id, if it has no errors; by default 0. */
  readonly getMaxAge?: number;
  /** The interval at which manifests are checked, in milliseconds; by default that of `FollowOptions`. */
  readonly pollMs?: number | undefined;
}

/** Settings and collaborators of persisted documents. */
export interface PersistedOptions extends PersistedSettings {
  readonly schemas: Schemas;
  readonly introspection: boolean;
  readonly prepare: Prepare;
  readonly redis?: SharedRedis | undefined;
  /** The manifests of servers. */
  readonly remote?: Changing<readonly ManifestFile[]> | undefined;
  /** Throws a ConfigError if the documents do not fit other settings, such as the names of tools for agents. */
  readonly check?: ((set: DocumentSet) => void) | undefined;
  readonly log: Log;
}

/** Counters of persisted documents, for metrics. */
export interface PersistedCounts {
  readonly automatic: AutomaticCounts;
  readonly all: () => readonly Readonly<DocumentCounts>[];
}

/** Persisted documents of one gateway. */
export interface Persisted {
  readonly resolve: ResolveDocument;
  readonly documents: () => DocumentSet;
  readonly counts: PersistedCounts;
  /** The listed documents; undefined without manifests. */
  readonly list: Followed<DocumentSet> | undefined;
}

/** Reads the manifests. Rejects with a ConfigError if one cannot be used. */
export async function createPersisted(options: PersistedOptions): Promise<Persisted> {
  const { files, mode = 'allow', check, automatic = mode !== 'only', redis, sharedTexts } = options;
  const list = files === undefined || mode === 'off' ? undefined : await followManifests(files, options);
  if (list === undefined) check?.(noDocuments);
  const shared = redis === undefined ? sharedTexts : createRedisStore(redis);
  const store = automatic ? createRegistrations(createMemoryStore(), shared) : undefined;
  const documents = (): DocumentSet => list?.current() ?? noDocuments;
  const counts = {
    automatic: { hits: 0, misses: 0, registrations: 0 },
    all: () => documentsOf(documents()).map((document) => document.counts),
  };
  return {
    documents,
    resolve: createResolve({ ...options, mode, documents, store, automatic: counts.automatic }),
    counts,
    list,
  };
}

type ListedOptions = Omit<PersistedOptions, 'prepare' | 'files' | 'redis'>;

/**
 * Reads and prepares the documents of all manifests in `files`, then follows the manifests. Rejects with a ConfigError
 * if one cannot be used at the start. Later, a new set replaces the old one once all of its documents are prepared.
 */
export async function followManifests(files: string, options: ListedOptions): Promise<Followed<DocumentSet>> {
  const { mode = 'allow', strict = false, pollMs, log, remote, check } = options;
  const prepare = createPrepareListed(options);
  const patterns = sourcesOf(files).patterns.map(globOf);
  const prepared = async (previous: DocumentSet): Promise<DocumentSet> => {
    const set = await prepareSet(entriesIn(patterns, remote?.current()), prepare, previous);
    if (strict && set.problems.length > 0)
      throw new ConfigError(`documents that are not valid: ${set.problems.join('; ')}`);
    check?.(set);
    return set;
  };
  const report = (what: string, set: DocumentSet): DocumentSet => {
    const documents = documentsOf(set);
    const counts = documents.map(({ operations }) => (operations instanceof RefusedDocument ? 0 : operations.length));
    for (const problem of set.problems) log('warn', `persisted document is not valid: ${problem}`);
    log('info', `persisted documents were ${what}`, {
      files: [...patterns, ...(remote?.current() ?? []).map(({ file }) => file)].join(', '),
      documents: documents.length,
      operations: counts.reduce((sum, count) => sum + count, 0),
      invalid: set.problems.length,
    });
    return set;
  };
  const first = async (): Promise<DocumentSet> => report('read', await prepared(noDocuments));
  const again = async (previous: DocumentSet): Promise<DocumentSet> => {
    const next = await prepared(previous);
    if (mode === 'only') checkShrinking(documentsOf(previous).length, documentsOf(next).length);
    return report('read again', next);
  };
  const known = remote?.current();
  const followed = await follow({ name: 'persisted documents', patterns: () => patterns, first, again, pollMs, log });
  remote?.onChange(() => void followed.reload());
  // The manifests of servers may have changed while the documents were prepared.
  if (remote?.current() !== known) void followed.reload();
  return followed;
}

/**
 * Throws a ConfigError if a reload loses more than half of the documents. An empty file is more often a failed
 * deployment than a decision to refuse every document.
 */
function checkShrinking(before: number, now: number): void {
  if (now * 2 >= before) return;
  const expected = `expected at least half of the ${before} documents in use, because PERSISTED_DOCUMENTS_MODE is only`;
  throw new ConfigError(`${expected}, but got ${now}; a restart uses the new documents`);
}
