import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../config-error.ts';
import { messageOf } from '../../error-text.ts';
import { type Followed, follow } from '../../follow.ts';
import type { Log } from '../../log.ts';
import { type FetchOptions, fetchDocument } from '../../rest/transport/fetch-document.ts';
import { type ManifestFile, readManifest } from './manifest.ts';

/** Sources of manifests. Times are in milliseconds. */
export interface FollowRemoteOptions {
  readonly urls: readonly string[];
  /** The token for `Authorization: Bearer`, read for each request; undefined if no header is sent. */
  readonly token: () => string | undefined;
  /** The route to the server of a URL: a proxy, and trusted certificate authorities. */
  readonly route: (url: string) => FetchOptions['route'];
  readonly log: Log;
  readonly pollMs?: number;
}

const maxBytes = 10 * 2 ** 20;

/** The attempts at the start. With the pauses between them, all together take at most ten seconds. */
const firstTries = 3;
const firstTimeoutMs = 3000;
const betweenTriesMs = 500;

const pollTimeoutMs = 10_000;

/**
 * Fetches manifests, and checks each minute whether they have changed. Rejects with a ConfigError if one cannot be
 * fetched at the start or is not a manifest. Later, a manifest that cannot be used changes nothing, and each reason is
 * logged once.
 */
export async function followRemoteManifests(options: FollowRemoteOptions): Promise<Followed<readonly ManifestFile[]>> {
  const { urls, log, pollMs = 60_000 } = options;
  const manifests = await Promise.all(urls.map((url) => fetchFirst(url, options)));
  const contents = (): readonly ManifestFile[] => manifests.map(({ file, text }) => ({ file, text }));
  /** True if the manifest has changed. */
  const renew = async (known: FetchedManifest, at: number): Promise<boolean> => {
    try {
      const next = await fetchManifest(known, options, pollTimeoutMs);
      manifests[at] = next;
      return next.text !== known.text;
    } catch (error) {
      const { message } = unusable(known, error);
      if (message !== known.logged) log('error', `persisted documents stay as they were: ${message}`);
      manifests[at] = { ...known, logged: message };
      return false;
    }
  };
  const again = async (previous: readonly ManifestFile[]): Promise<readonly ManifestFile[]> => {
    const changes = await Promise.all(manifests.map(renew));
    return changes.includes(true) ? contents() : previous;
  };
  return follow({ name: 'persisted documents', first: contents, again, pollMs, log });
}

/** The last version of a manifest that could be used. `file` is the URL without the query, which may hold a key. */
interface FetchedManifest extends ManifestFile {
  readonly url: string;
  readonly etag: string | undefined;
  /** The logged reason why the manifest cannot be used now. */
  readonly logged: string | undefined;
}

async function fetchFirst(url: string, options: FollowRemoteOptions): Promise<FetchedManifest> {
  const { origin, pathname } = new URL(url);
  const unknown = { url, file: `${origin}${pathname}`, text: '', etag: undefined, logged: undefined };
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetchManifest(unknown, options, firstTimeoutMs);
    } catch (error) {
      if (error instanceof ConfigError || tries === firstTries) throw unusable(unknown, error);
      await delay(betweenTriesMs);
    }
  }
}

/** Fetches a manifest. Rejects if that fails, and with a ConfigError if the document is not a manifest. */
async function fetchManifest(
  known: FetchedManifest,
  { token, route }: FollowRemoteOptions,
  timeoutMs: number,
): Promise<FetchedManifest> {
  const { url, file, etag } = known;
  const bearer = token();
  const headers = {
    accept: 'application/json, application/graphql, */*;q=0.1',
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
  const fetched = await fetchDocument(url, { route: route(url), maxBytes, timeoutMs, headers, etag });
  if (fetched === undefined) return { ...known, logged: undefined };
  readManifest(file, fetched.text);
  return { ...known, ...fetched, logged: undefined };
}

function unusable({ file }: FetchedManifest, error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  return new ConfigError(`${file}: expected a manifest, but ${messageOf(error)}`);
}
