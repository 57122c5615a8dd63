import { type FollowedTenants, followTenants } from './auth/tenants-file.ts';
import type { Reloads } from './follow-files.ts';
import type { Log } from './log.ts';
import { checkRoleDocuments } from './operation/persisted/document-set.ts';
import { entriesIn, type ManifestFile, sourcesOf } from './operation/persisted/manifest.ts';
import {
  type FollowedRemote,
  followRemoteManifests,
  type RemoteManifests,
} from './operation/persisted/remote-manifests.ts';
import type { Tenants } from './rest/tenants.ts';
import { type Config, tenantsSourceOf } from './settings/config.ts';
import { currentRoute } from './settings/route.ts';
import { tokenIn } from './settings/setting-files.ts';

/**
 * The contents of the shared files. A member is undefined if the settings name no such file, or if it has not changed.
 */
export interface SharedContents {
  readonly tenants?: Tenants | undefined;
  /** The manifests of persisted documents that were fetched from servers. */
  readonly manifests?: readonly ManifestFile[] | undefined;
}

/**
 * Files that the first process reads, and reads again when they change: the keys of tenants, and the manifests that are
 * fetched from servers. It sends their contents to its workers.
 */
export class SharedFiles {
  readonly #listeners: ((changed: SharedContents) => void)[] = [];
  #contents: SharedContents;
  /** The counts of attempts to read the tenants' keys again; undefined in a worker, or if the gateway holds no keys. */
  reloads: Readonly<Reloads> | undefined;

  constructor(contents: SharedContents = {}) {
    this.#contents = contents;
  }

  get contents(): SharedContents {
    return this.#contents;
  }

  /** Calls the listener each time that contents have changed, with the changed ones. */
  onChange(listener: (changed: SharedContents) => void): void {
    this.#listeners.push(listener);
  }

  /** Replaces the contents that have changed, and calls the listeners. */
  take(changed: SharedContents): void {
    this.#contents = { ...this.#contents, ...changed };
    for (const listener of this.#listeners) listener(changed);
  }

  /** The manifests that are fetched from servers; undefined if the settings name none. */
  get remote(): RemoteManifests | undefined {
    if (this.#contents.manifests === undefined) return undefined;
    return {
      current: () => this.#contents.manifests ?? [],
      onChange: (listener) =>
        this.onChange(({ manifests }) => {
          if (manifests !== undefined) listener();
        }),
    };
  }
}

/** Shared files that this process reads again when they change. */
export interface FollowedSharedFiles {
  readonly files: SharedFiles;
  readonly reload: () => void;
  readonly close: () => void;
}

/**
 * Reads the shared files and follows them. Rejects with a ManifestError if a server has no manifest, and with a
 * TenantsError if the keys of tenants cannot be used.
 */
export async function followSharedFiles(
  config: Config,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<FollowedSharedFiles> {
  const remote = await followRemote(config, log);
  const tenants = followKeys(config, environment, remote, log);
  const files = new SharedFiles({ tenants: tenants?.current(), manifests: remote?.current() });
  files.reloads = tenants?.reloads;
  tenants?.onChange((all) => files.take({ tenants: all }));
  remote?.onChange(() => files.take({ manifests: remote.current() }));
  return {
    files,
    reload: () => void Promise.all([tenants?.reload(), remote?.reload()]),
    close: () => {
      tenants?.close();
      remote?.close();
    },
  };
}

async function followRemote({ persisted, upstreamTlsFiles }: Config, log: Log): Promise<FollowedRemote | undefined> {
  const { files = '', mode, tokenFile, routes } = persisted;
  const { urls } = sourcesOf(files);
  if (urls.length === 0 || mode === 'off') return undefined;
  const token = (): string | undefined => (tokenFile === undefined ? undefined : tokenIn(tokenFile));
  const current = new Map(urls.map((url) => [url, currentRoute(routes[url] ?? {}, upstreamTlsFiles)]));
  return followRemoteManifests({ urls, token, route: (url) => current.get(url)?.(), log });
}

function followKeys(
  { auth, persisted: { files = '', mode } }: Config,
  environment: NodeJS.ProcessEnv,
  remote: RemoteManifests | undefined,
  log: Log,
): FollowedTenants | undefined {
  if (auth === undefined) return undefined;
  const { patterns } = sourcesOf(mode === 'off' ? '' : files);
  const check = (tenants: Tenants): void => checkRoleDocuments(tenants, () => entriesIn(patterns, remote?.current()));
  return followTenants({ source: tenantsSourceOf(auth, environment), log, check });
}
