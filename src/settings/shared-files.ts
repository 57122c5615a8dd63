import { checkRoleDocuments } from '../auth/entry-rights.ts';
import { followTenants } from '../auth/tenants-file.ts';
import type { Changing, Followed } from '../follow.ts';
import type { Log } from '../log.ts';
import { entriesIn, type ManifestFile, sourcesOf } from '../operation/persisted/manifest.ts';
import { followRemoteManifests } from '../operation/persisted/remote-manifests.ts';
import type { Tenants } from '../rest/tenants.ts';
import { type Config, tenantsSourceOf } from './config.ts';
import { currentRoute } from './route.ts';
import { tokenIn } from './setting-files.ts';

/**
 * The values that one process of a gateway reads for all of them. If there are workers, the first process reads the
 * values and sends them to the workers. A member is undefined if the settings name no such file.
 */
export interface SharedFiles {
  /** The entries of `UPSTREAM_KEYS`. */
  readonly tenants?: Changing<Tenants> | undefined;
  /** The manifests of persisted documents that were fetched from servers. */
  readonly manifests?: Changing<readonly ManifestFile[]> | undefined;
}

/**
 * Reads the shared files and follows them. Rejects with a ConfigError if a server has no manifest, or if the keys of
 * tenants cannot be used.
 */
export async function followSharedFiles(
  config: Config,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<{ readonly files: SharedFiles; readonly reload: () => void; readonly close: () => void }> {
  const manifests = await followRemote(config, log);
  const tenants = await followKeys(config, environment, manifests, log);
  return {
    files: { tenants, manifests },
    reload: () => void Promise.all([tenants?.reload(), manifests?.reload()]),
    close: () => {
      tenants?.close();
      manifests?.close();
    },
  };
}

async function followRemote(
  { persisted, upstreamTlsFiles }: Config,
  log: Log,
): Promise<Followed<readonly ManifestFile[]> | undefined> {
  const { files = '', mode, tokenFile, routes } = persisted;
  const { urls } = sourcesOf(files);
  if (urls.length === 0 || mode === 'off') return undefined;
  const token = (): string | undefined => (tokenFile === undefined ? undefined : tokenIn(tokenFile));
  const current = new Map(urls.map((url) => [url, currentRoute(routes[url] ?? {}, upstreamTlsFiles)]));
  return followRemoteManifests({ urls, token, route: (url) => current.get(url)?.(), log });
}

async function followKeys(
  { auth, persisted: { files = '', mode } }: Config,
  environment: NodeJS.ProcessEnv,
  manifests: SharedFiles['manifests'],
  log: Log,
): Promise<Followed<Tenants> | undefined> {
  if (auth === undefined) return undefined;
  const { patterns } = sourcesOf(mode === 'off' ? '' : files);
  const check = (tenants: Tenants): void =>
    checkRoleDocuments(tenants, () => entriesIn(patterns, manifests?.current()));
  return followTenants({ source: tenantsSourceOf(auth, environment), log, check });
}
