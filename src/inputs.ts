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
import { mutationNames } from './resolvers/resolvers.ts';
import type { Tenants } from './rest/tenants.ts';
import type { Config } from './settings/config.ts';
import { currentRoute } from './settings/route.ts';
import { tokenIn } from './settings/setting-files.ts';

/** The inputs that one process reads for all, as they were last read. Undefined for those that the settings do not name. */
export interface InputValues {
  readonly tenants?: Tenants | undefined;
  /** The manifests that servers have. */
  readonly manifests?: readonly ManifestFile[] | undefined;
}

/** The inputs of one process. The first process reads them, and sends them to its workers. */
export class Inputs {
  readonly #listeners: ((changed: InputValues) => void)[] = [];
  current: InputValues = {};
  /** The attempts to read the keys of tenants again; undefined in a worker, and if the gateway holds no keys. */
  reloads: Readonly<Reloads> | undefined;

  /** Calls the listener with the inputs that have changed, each time that some have. */
  onChange(listener: (changed: InputValues) => void): void {
    this.#listeners.push(listener);
  }

  take(changed: InputValues): void {
    this.current = { ...this.current, ...changed };
    for (const listener of this.#listeners) listener(changed);
  }

  /** The manifests of servers; undefined if the settings name none. */
  get remote(): RemoteManifests | undefined {
    if (this.current.manifests === undefined) return undefined;
    return {
      current: () => this.current.manifests ?? [],
      onChange: (listener) =>
        this.onChange(({ manifests }) => {
          if (manifests !== undefined) listener();
        }),
    };
  }
}

/** Inputs that this process reads again when they change. */
export interface FollowedInputs {
  readonly inputs: Inputs;
  readonly reload: () => void;
  readonly close: () => void;
}

/**
 * Reads the inputs and follows them. Rejects with a ManifestError if a server has no manifest, and with a TenantsError if
 * the keys of tenants cannot be used.
 */
export async function followInputs(config: Config, environment: NodeJS.ProcessEnv, log: Log): Promise<FollowedInputs> {
  const remote = await followRemote(config, log);
  const tenants = followKeys(config, environment, remote, log);
  const inputs = new Inputs();
  inputs.reloads = tenants?.reloads;
  inputs.take({ tenants: tenants?.current(), manifests: remote?.current() });
  tenants?.onChange((all) => inputs.take({ tenants: all }));
  remote?.onChange(() => inputs.take({ manifests: remote.current() }));
  return {
    inputs,
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
  const hasRoles = auth.rules.rolesClaim !== undefined;
  const source = { path: auth.tenantsPath, environment, mutationNames, hasRoles };
  const { patterns } = sourcesOf(mode === 'off' ? '' : files);
  const check = (tenants: Tenants): void => checkRoleDocuments(tenants, () => entriesIn(patterns, remote?.current()));
  return followTenants({ source, log, check });
}
