import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../error-text.ts';
import type { Log } from '../../log.ts';
import { type FetchOptions, fetchDocument } from '../../rest/transport/fetch-document.ts';
import { ManifestError, readManifest } from './manifest.ts';
import type { ManifestFile } from './manifest-files.ts';

/** Manifests from servers, as they were last fetched. */
export interface RemoteManifests {
  readonly current: () => readonly ManifestFile[];
  readonly onChange: (listener: () => void) => void;
}

/** Sources and settings of fetched manifests. Times are in milliseconds. */
export interface FollowRemoteOptions {
  readonly urls: readonly string[];
  /** The token for `Authorization: Bearer`, read for each request; undefined if no header is sent. */
  readonly token: () => string | undefined;
  /** The route to a URL: a proxy, and the trusted authorities. */
  readonly route: (url: string) => FetchOptions['route'];
  readonly log: Log;
  readonly pollMs?: number;
}

/** Manifests that are fetched repeatedly. */
export interface FollowedRemote extends RemoteManifests {
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

const maxBytes = 10 * 2 ** 20;

/**
 * The number of attempts at the start. With the longest time of each and the pause between them, they take at most ten
 * seconds.
 */
const firstTries = 3;
const firstTimeoutMs = 3000;
const betweenTriesMs = 500;

const pollTimeoutMs = 10_000;

/**
 * Fetches manifests, and checks each minute whether they have changed. Rejects with a ManifestError if one cannot be
 * fetched at the start or is not a manifest. Later, a manifest that cannot be used changes nothing, and each reason is
 * logged once.
 */
export async function followRemoteManifests(options: FollowRemoteOptions): Promise<FollowedRemote> {
  const { urls, log, pollMs = 60_000 } = options;
  const manifests = urls.map((url) => new RemoteManifest(url, options));
  await Promise.all(manifests.map((manifest) => manifest.start()));
  let changed: () => void = () => undefined;
  const look = async (): Promise<void> => {
    const changes = await Promise.all(manifests.map((manifest) => manifest.renew(log)));
    if (changes.includes(true)) changed();
  };
  // Reloads run one after the other: an older answer must not replace a newer one.
  let last: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => (last = last.then(look));
  const timer = setInterval(() => void reload(), pollMs);
  timer.unref();
  return {
    current: () => manifests.map(({ manifest }) => manifest),
    onChange: (listener) => {
      changed = listener;
    },
    reload,
    close: () => clearInterval(timer),
  };
}

class RemoteManifest {
  /**
   * The last version of the manifest that could be used. Its name is the URL without the query, which may hold a key.
   */
  manifest: ManifestFile;
  readonly #url: string;
  readonly #options: Pick<FollowRemoteOptions, 'token' | 'route'>;
  /** The `ETag` of that version. */
  #etag: string | undefined;
  /** The logged reason why the manifest cannot be used now; undefined if there is none. */
  #logged: string | undefined;

  constructor(url: string, options: Pick<FollowRemoteOptions, 'token' | 'route'>) {
    const { origin, pathname } = new URL(url);
    this.manifest = { file: `${origin}${pathname}`, text: '' };
    this.#url = url;
    this.#options = options;
  }

  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return void (await this.#fetch(firstTimeoutMs));
      } catch (error) {
        if (error instanceof ManifestError || tries === firstTries) throw this.#unusable(error);
        await delay(betweenTriesMs);
      }
    }
  }

  /** Fetches it again; true if it has changed. */
  async renew(log: Log): Promise<boolean> {
    try {
      const isNew = await this.#fetch(pollTimeoutMs);
      this.#logged = undefined;
      return isNew;
    } catch (error) {
      const { message } = this.#unusable(error);
      if (message !== this.#logged) log('error', `persisted documents stay as they were: ${message}`);
      this.#logged = message;
      return false;
    }
  }

  async #fetch(timeoutMs: number): Promise<boolean> {
    const { token, route } = this.#options;
    const bearer = token();
    const headers = {
      accept: 'application/json, application/graphql, */*;q=0.1',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    };
    const request = { route: route(this.#url), maxBytes, timeoutMs, headers, etag: this.#etag };
    const fetched = await fetchDocument(this.#url, request);
    if (fetched === undefined) return false;
    const { text, etag } = fetched;
    const { file, text: before } = this.manifest;
    readManifest(file, text);
    this.#etag = etag;
    this.manifest = { file, text };
    return text !== before;
  }

  #unusable(error: unknown): ManifestError {
    if (error instanceof ManifestError) return error;
    const message = `${this.manifest.file}: expected a manifest, but ${messageOf(error)}`;
    return new ManifestError(message, { cause: error });
  }
}
