import type { Followed, Reloads } from '../../follow-files.ts';
import type { Log } from '../../log.ts';
import type { SharedRedis } from '../../redis.ts';
import { createPrepareListed, type Prepare } from '../document.ts';
import type { Schemas } from '../execute.ts';
import { type DocumentSet, noDocuments } from './document-set.ts';
import { followManifests } from './follow-manifests.ts';
import { createRedisStore } from './redis-store.ts';
import type { RemoteManifests } from './remote-manifests.ts';
import { createResolve, type DocumentMode, type ResolveDocument } from './resolve.ts';
import { createMemoryStore, createRegistrations, type SharedTexts } from './store.ts';
import { createDocumentUses, type DocumentUses } from './uses.ts';

/** Settings of persisted documents. */
export interface PersistedSettings {
  /** The path of a file or a folder of manifests, or a glob; undefined if there are none. */
  readonly files?: string | undefined;
  readonly remote?: RemoteManifests | undefined;
  /** By default `allow`. */
  readonly mode?: DocumentMode;
  /** True if an invalid listed document keeps the gateway from starting. */
  readonly strict?: boolean;
  /** True if clients may register documents by their hash. By default they may in every mode but `only`. */
  readonly automatic?: boolean | undefined;
  /** The URL of the Redis that keeps the documents that clients registered; undefined if only memory keeps them. */
  readonly redisUrl?: string | undefined;
  /** PEM certificates of authorities that are trusted for Redis, in addition to those that Node trusts. */
  readonly redisAuthorities?: string | undefined;
  /**
   * The path of a file with the password of Redis, read at each connect; undefined if the URL has the password or there
   * is none.
   */
  readonly redisPasswordFile?: string | undefined;
  /** The password of the Sentinels, if they have one. */
  readonly redisSentinelPassword?: string | undefined;
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

/** Persisted documents of one gateway. */
export interface Persisted extends Followed {
  readonly resolve: ResolveDocument;
  readonly documents: () => DocumentSet;
  readonly uses: DocumentUses;
  /** Undefined without manifests. */
  readonly reloads: Readonly<Reloads> | undefined;
}

/** Reads the manifests and connects the store. Throws a ManifestError if a manifest cannot be used. */
export function createPersisted(options: PersistedOptions): Persisted {
  const { files, mode = 'allow', strict = false, check, automatic = mode !== 'only', redis, sharedStore } = options;
  const uses = createDocumentUses();
  const isListed = files !== undefined && mode !== 'off';
  const prepareListed = createPrepareListed(options);
  const list = isListed
    ? followManifests({ ...options, files, mode, strict, uses, prepare: prepareListed })
    : undefined;
  if (list === undefined) check?.(noDocuments);
  const shared = redis === undefined ? sharedStore : createRedisStore(redis);
  const store = automatic ? createRegistrations(createMemoryStore(), shared) : undefined;
  const documents = (): DocumentSet => list?.current() ?? noDocuments;
  return {
    documents,
    resolve: createResolve({ ...options, mode, documents, store, automatic: uses.automatic }),
    uses,
    reloads: list?.reloads,
    reload: async () => list?.reload(),
    close: () => list?.close(),
  };
}
