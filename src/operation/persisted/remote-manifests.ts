import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../error-text.ts';
import type { Log } from '../../log.ts';
import { type Fetched, type FetchOptions, fetchDocument } from '../../rest/transport/fetch-document.ts';
import { ManifestError, readManifest } from './manifest.ts';
import type { ManifestFile } from './manifest-files.ts';

/** Manifests that a server has, as they were fetched last. */
export interface RemoteManifests {
  readonly current: () => readonly ManifestFile[];
  /** Calls back when one of them has changed. */
  readonly onChange: (listener: () => void) => void;
}

/** Where manifests are fetched. Times in milliseconds. */
export interface FollowRemoteOptions {
  readonly urls: readonly string[];
  /** What is sent as `Authorization: Bearer`, read at each time; undefined: nothing. */
  readonly token: () => string | undefined;
  /** The way to a URL: a proxy, and whom to trust. */
  readonly route: (url: string) => FetchOptions['route'];
  readonly log: Log;
  /** How often they are asked for again; by default each minute. */
  readonly pollMs?: number;
}

/** Manifests that are fetched again and again. */
export interface FollowedRemote extends RemoteManifests {
  /** Fetches them now. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** The largest manifest, in bytes. */
const maxBytes = 10 * 2 ** 20;

/** Tries at the start, and how long each of them may take: ten seconds in all. */
const firstTries = 3;
const firstTimeoutMs = 3000;
const betweenTriesMs = 500;

const pollTimeoutMs = 10_000;

/**
 * Fetches manifests, and then asks each minute whether they have changed. Rejects with a ManifestError if one cannot be
 * fetched at the start, or is none. Later each reason why one cannot be used is logged once, and changes nothing.
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
  // One after the other: an older answer must not overtake a newer one.
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

/** One manifest of a server. */
class RemoteManifest {
  /** What it was when it could be used last; its name is the URL without a query, which may hold a key. */
  manifest: ManifestFile;
  readonly #url: string;
  readonly #options: Pick<FollowRemoteOptions, 'token' | 'route'>;
  /** The `ETag` of the answer that came last, whether it could be used or not. */
  #etag: string | undefined;
  /** Why it cannot be used now, if it has been logged. */
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

  /** True if it is another one now. */
  async renew(log: Log): Promise<boolean> {
    try {
      const isNew = await this.#fetch(pollTimeoutMs);
      // An answer that has not changed since it could not be used still cannot.
      if (isNew !== undefined) this.#logged = undefined;
      return isNew === true;
    } catch (error) {
      const { message } = this.#unusable(error);
      if (message !== this.#logged) log('error', `persisted documents stay as they were: ${message}`);
      this.#logged = message;
      return false;
    }
  }

  /** True if another manifest came, false for the same one, undefined if the server says that nothing has changed. */
  async #fetch(timeoutMs: number): Promise<boolean | undefined> {
    const fetched = await this.#ask(timeoutMs);
    if (fetched === undefined) return undefined;
    const { text, etag } = fetched;
    this.#etag = etag;
    const { file } = this.manifest;
    readManifest(file, text);
    const isNew = text !== this.manifest.text;
    this.manifest = { file, text };
    return isNew;
  }

  #ask(timeoutMs: number): Promise<Fetched | undefined> {
    const { token, route } = this.#options;
    const bearer = token();
    const headers = {
      accept: 'application/json, application/graphql, */*;q=0.1',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    };
    return fetchDocument(this.#url, { route: route(this.#url), maxBytes, timeoutMs, headers, etag: this.#etag });
  }

  #unusable(error: unknown): ManifestError {
    if (error instanceof ManifestError) return error;
    const message = `${this.manifest.file}: expected a manifest, but ${messageOf(error)}`;
    return new ManifestError(message, { cause: error });
  }
}
