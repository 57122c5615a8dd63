/**
 * Apollo iOS 2, replayed. Nothing of it runs here: this is its wire format and its rules, read in its source
 * (github.com/apollographql/apollo-ios, folder Sources/Apollo):
 * - requests: `JSONRequest.swift`, `JSONRequestBodyCreator.swift`, `ClientAwarenessMetadata.swift`,
 *   `GraphQLGETTransformer.swift`, `JSONSerializationFormat.swift`
 * - the protocol: `AutomaticPersistedQueryInterceptor.swift`
 * - which answers are read: `ResponseCodeInterceptor.swift`
 */
import type { RawRequest, RawResponse } from '../../support/raw-http.ts';
import type { Answer, Client, Connect, Endpoint } from '../support/client.ts';
import {
  ClientError,
  createApp,
  type Execute,
  type Operation,
  outcomeOf,
  toOperation,
  type Variables,
} from '../support/mobile.ts';
import { parsed } from '../support/traffic.ts';
import { operations } from './operations.ts';

/** `AutoPersistedQueryConfiguration`. */
export interface ApqConfig {
  readonly autoPersistQueries: boolean;
  readonly useGETForPersistedQueryRetry: boolean;
}

const off: ApqConfig = { autoPersistQueries: false, useGETForPersistedQueryRetry: false };
const byGet: ApqConfig = { autoPersistQueries: true, useGETForPersistedQueryRetry: true };
const byPost: ApqConfig = { autoPersistQueries: true, useGETForPersistedQueryRetry: false };

/** Apollo iOS, with each of its two ways to ask again after a miss. */
export const apolloIos: Client = {
  name: 'Apollo iOS 2, replayed',
  text: connect(off),
  automatic: {
    get: connect(byGet),
    post: connect(byPost),
    ask: async (endpoint, text, hash) => outcomeOf(createExecute(endpoint, byPost)(toOperation(text, hash), {})),
  },
  listed: connect(byGet),
};

function connect(config: ApqConfig): Connect {
  return (endpoint) => createApp(createExecute(endpoint, config), operations);
}

function createExecute({ url, authorization, send }: Endpoint, config: ApqConfig): Execute {
  return async <Data>(operation: Operation, variables: Variables) => {
    const ask = async (isRetry: boolean): Promise<Answer<Data>> =>
      read(await send(compose(url, operation, variables, config, isRetry, authorization)));
    const answer = await ask(false);
    if (!config.autoPersistQueries || !isMiss(answer)) return answer;
    const again = await ask(true);
    if (isMiss(again)) throw new ClientError('APQError.persistedQueryRetryFailed');
    return again;
  };
}

/** A request, byte for byte. The headers after `Authorization`, which the app sets, are CFNetwork's. */
export function compose(
  url: string,
  { name, type, text, id }: Operation,
  variables: Variables,
  { autoPersistQueries, useGETForPersistedQueryRetry }: ApqConfig,
  isRetry: boolean,
  authorization: string,
): RawRequest {
  const body = {
    extensions: {
      clientLibrary: { name: 'apollo-ios', version: '2.0.0' },
      ...(autoPersistQueries && { persistedQuery: { sha256Hash: id, version: 1 } }),
    },
    operationName: name,
    ...((isRetry || !autoPersistQueries) && { query: text }),
    variables,
  };
  const headers = [
    ...['Accept', 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json'],
    ...['Authorization', authorization, 'Accept-Language', 'en-GB,en;q=0.9', 'Accept-Encoding', 'gzip, deflate'],
    ...['User-Agent', 'App/1 CFNetwork/3826.500.111 Darwin/24.5.0', 'Connection', 'keep-alive'],
  ];
  if (type === 'mutation' || !useGETForPersistedQueryRetry) {
    return { method: 'POST', headers: ['Content-Type', 'application/json', ...headers], body: toSortedJson(body) };
  }
  const search = Object.entries(body).map(([key, value]) => {
    return `${key}=${percentEncode(typeof value === 'string' ? value : toSortedJson(value))}`;
  });
  return { method: 'GET', path: `${new URL(url).pathname}?${search.join('&')}`, headers };
}

/** `JSONSerialization` with `sortedKeys`, which also escapes slashes. */
function toSortedJson(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
  return sorted.replaceAll('/', String.raw`\/`);
}

/** `URLComponents.queryItems`: it leaves what RFC 3986 §3.4 allows in a query, but for the separators of its items. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|2C|3A|3F|40|2F)/g, decodeURIComponent);
}

/** A status that is no success ends the chain, before errors are looked at; the app may read the body. */
function read<Data>({ status, body }: RawResponse): Answer<Data> {
  const answer = parsed<Answer<Data>>(body);
  if (status >= 200 && status <= 299) return answer;
  throw new ClientError(`ResponseCodeError ${status}`, answer.errors);
}

/** Only the message is looked at. `PersistedQueryNotSupported` means nothing here. */
function isMiss({ errors }: Answer<unknown>): boolean {
  return errors?.some(({ message }) => message === 'PersistedQueryNotFound') === true;
}
