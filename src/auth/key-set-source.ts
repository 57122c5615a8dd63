import { open } from 'node:fs/promises';
import type { JSONWebKeySet } from 'jose';
import type { Route } from '../rest/transport/connect.ts';
import { fetchDocument } from '../rest/transport/fetch-document.ts';
import { isList, isObject } from '../rest/values.ts';

/** Reads the set of keys that tokens are verified with. Rejects with an Error whose message is for an operator. */
export type FetchKeySet = () => Promise<JSONWebKeySet>;

/** The source of a key set. */
export interface KeySetSource {
  /** An http or https URL, or the path of a file. */
  readonly from: string;
  /** The current route to the URL: a proxy, and the trusted authorities. */
  readonly route: () => Route;
  /** The time in which the provider has to answer, in milliseconds. Requests wait for it if there is no key set yet. */
  readonly timeoutMs?: number;
}

/** The largest key set, in bytes: far larger than that of any provider. */
const maxBytes = 65_536;

/** RFC 7517 §8.5; most providers send plain JSON. */
const mediaTypes = ['application/json', 'application/jwk-set+json'] as const;

const headers = { accept: mediaTypes.join(', ') };

/** Reads the key set from a URL or a file. */
export function createKeySetSource({ from, route, timeoutMs = 5000 }: KeySetSource): FetchKeySet {
  if (!isKeySetUrl(from)) return async () => toKeySet(await readSmall(from), 'the file');
  return async () =>
    toKeySet(
      (await fetchDocument(from, { route: route(), maxBytes, timeoutMs, mediaTypes, headers }))?.text ?? '',
      'the answer',
    );
}

/** True if a key set is fetched, and not read from a file. */
export function isKeySetUrl(from: string): boolean {
  return /^https?:\/\//i.test(from);
}

/** The key set in a text. Throws an Error for any other text; `what` names the text in its message. */
export function toKeySet(text: string, what: 'the file' | 'the answer'): JSONWebKeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${what} is not JSON`);
  }
  const keys: unknown = isObject(value) ? value['keys'] : undefined;
  if (isObject(value) && typeof value['jwks_uri'] === 'string')
    throw new Error(`${what} is the configuration of a provider; its \`jwks_uri\` is the address of the key set`);
  if (!isList(keys) || !keys.every(isKey)) {
    throw new Error(`${what} is other JSON than a key set, whose \`keys\` are objects with a \`kty\``);
  }
  if (keys.some((key) => 'd' in key)) throw new Error(`${what} holds a private key`);
  return { keys: [...keys] };
}

function isKey(value: unknown): value is JSONWebKeySet['keys'][number] {
  return isObject(value) && typeof value['kty'] === 'string';
}

async function readSmall(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1));
    if (bytesRead > maxBytes) throw new Error(`expected at most ${maxBytes} bytes, but the file is larger`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
