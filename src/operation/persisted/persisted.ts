import type { Followed, Reloads } from '../../follow-files.ts';
import type { Log } from '../../log.ts';
import type { RedisSettings, SharedRedis } from '../../redis.ts';
import { createPrepareListed, type Prepare } from '../document.ts';
import type { Schemas } from '../execute.ts';
import { type DocumentSet, type DocumentUse, documentsOf, noDocuments } from './document-set.ts';
import { followManifests } from './follow-manifests.ts';
import type { RemoteManifests } from './remote-manifests.ts';
import { createResolve, type DocumentMode, type ResolveDocument } from './resolve.ts';
import {
  type AutomaticUse,
  createMemoryStore,
  createRedisStore,
  createRegistrations,
  type SharedTexts,
} from './store.ts';

/** Settings of persisted documents. */
export interface PersistedSettings extends RedisSettings {
  /** The path of a file or a folder of manifests, or a glob; undefined if there are none. */
  readonly files?: string | undefined;
  readonly remote?: RemoteManifests | undefined;
  /** By default `allow`. */
  readonly mode?: DocumentMode;
  /** True if an invalid listed document keeps the gateway from starting. */
  readonly strict?: boolean;
  /** True if clients may register documents by their hash. By default they may in every mode but `only`. */
  readonly automatic?: boolean | undefined;
  /**
   * Keeps the documents that clients registered with any process of this gateway. It is not used if there is a Redis.
   */
  readonly sharedStore?: SharedTexts | undefined;
  /** The time for which a client may keep the answer to a GET by id without errors, in seconds; by default none. */
  readonly getMaxAge?: number;
  /** The interval at which manifests are checked, in milliseconds; by default that of `FollowOptions`. */
  readonly pollMs?: number | undefined;
}

/** Collaborators of persisted documents. */
export interface PersistedOptions extends PersistedSettings {
  readonly schemas: Schemas;
  readonly introspection: boolean;
  readonly prepare: Prepare;
  readonly redis?: SharedRedis | undefined;
  /** Throws a ManifestError if the documents do not fit their other users, such as the tools of agents. */
  readonly check?: ((set: DocumentSet) => void) | undefined;
  readonly log: Log;
}

/** Counters of persisted documents, for metrics. */
export interface DocumentUses {
  readonly automatic: AutomaticUse;
  readonly all: () => readonly Readonly<DocumentUse>[];
}

/** Persisted documents of one gateway. */
export interface Persisted extends Followed {
  readonly resolve: ResolveDocument;
  readonly documents: () => DocumentSet;
  readonly uses: DocumentUses;
  /** Undefined without manifests. */
  readonly reloads: Readonly<Reloads> | undefined;
}

/** Reads the manifests and connects the store. Rejects with a ManifestError if a manifest cannot be used. */
export async function createPersisted(options: PersistedOptions): Promise<Persisted> {
  const { files, mode = 'allow', strict = false, check, automatic = mode !== 'only', redis, sharedStore } = options;
  const isListed = files !== undefined && mode !== 'off';
  const list = isListed
    ? await followManifests({ ...options, files, mode, strict, prepare: createPrepareListed(options) })
    : undefined;
  if (list === undefined) check?.(noDocuments);
  const shared = redis === undefined ? sharedStore : createRedisStore(redis);
  const store = automatic ? createRegistrations(createMemoryStore(), shared) : undefined;
  const documents = (): DocumentSet => list?.current() ?? noDocuments;
  const uses = {
    automatic: { hits: 0, misses: 0, registrations: 0 },
    all: () => documentsOf(documents()).map(({ use }) => use),
  };
  return {
    documents,
    resolve: createResolve({ ...options, mode, documents, store, automatic: uses.automatic }),
    uses,
    reloads: list?.reloads,
    reload: async () => list?.reload(),
    close: () => list?.close(),
  };
}
