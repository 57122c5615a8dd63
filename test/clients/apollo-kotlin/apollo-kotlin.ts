/**
 * Apollo Kotlin 5, replayed. Nothing of it runs here: this is its wire format and its rules, read in its source
 * (github.com/apollographql/apollo-kotlin, folders below libraries/):
 * - requests: apollo-api, `api/http/DefaultHttpRequestComposer.kt` and `api/http/internal/UrlEncode.kt`
 * - the protocol: apollo-runtime, `interceptor/AutoPersistedQueryInterceptor.kt`
 * - which answers are read: apollo-runtime, `network/http/HttpNetworkTransport.kt`
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

type Method = 'GET' | 'POST';

/** `ApolloClient.Builder.autoPersistedQueries(…)`; undefined: not called. */
export interface AutoPersistedQueries {
  readonly httpMethodForHashedQueries: Method;
  readonly httpMethodForDocumentQueries: Method;
}

/** The method of a request, and the parts that it sends. */
interface Sending {
  readonly httpMethod: Method;
  readonly sendDocument: boolean;
  readonly sendApqExtensions: boolean;
}

// The defaults of autoPersistedQueries().
const byGet: AutoPersistedQueries = { httpMethodForHashedQueries: 'GET', httpMethodForDocumentQueries: 'POST' };
const byPost: AutoPersistedQueries = { httpMethodForHashedQueries: 'POST', httpMethodForDocumentQueries: 'POST' };

/** Apollo Kotlin, with each of its two ways to send a hash. */
export const apolloKotlin: Client = {
  name: 'Apollo Kotlin 5, replayed',
  text: connect(undefined),
  automatic: {
    get: connect(byGet),
    post: connect(byPost),
    ask: async (endpoint, text, hash) => outcomeOf(createExecute(endpoint, byGet)(toOperation(text, hash), {})),
  },
  listed: connect(byGet),
};

function connect(automatic: AutoPersistedQueries | undefined): Connect {
  return (endpoint) => createApp(createExecute(endpoint, automatic), operations);
}

function createExecute({ url, authorization, send }: Endpoint, automatic: AutoPersistedQueries | undefined): Execute {
  return async <Data>(operation: Operation, variables: Variables) => {
    const ask = async (sending: Sending): Promise<Answer<Data>> =>
      read(await send(compose(url, operation, variables, sending, authorization)));
    if (automatic === undefined) return ask({ httpMethod: 'POST', sendDocument: true, sendApqExtensions: false });
    const method = (chosen: Method): Method => (operation.type === 'mutation' ? 'POST' : chosen);
    const hashed = method(automatic.httpMethodForHashedQueries);
    const answer = await ask({ httpMethod: hashed, sendDocument: false, sendApqExtensions: true });
    if (says(answer, 'PersistedQueryNotSupported')) throw new ClientError('AutoPersistedQueriesNotSupported');
    if (!says(answer, 'PersistedQueryNotFound')) return answer;
    const full = method(automatic.httpMethodForDocumentQueries);
    return ask({ httpMethod: full, sendDocument: true, sendApqExtensions: true });
  };
}

/** A request, byte for byte. The headers after `Authorization`, which the app sets, are OkHttp's. */
export function compose(
  url: string,
  { name, text, id }: Operation,
  variables: Variables,
  { httpMethod, sendDocument, sendApqExtensions }: Sending,
  authorization: string,
): RawRequest {
  const extensions = {
    ...(sendApqExtensions && { persistedQuery: { version: 1, sha256Hash: id } }),
    clientLibrary: { name: 'apollo-kotlin', version: '5.0.0' },
  };
  const headers = [
    ...['Accept', 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json'],
    ...['Authorization', authorization, 'Connection', 'Keep-Alive', 'Accept-Encoding', 'gzip'],
    ...['User-Agent', 'okhttp/4.12.0'],
  ];
  if (httpMethod === 'POST') {
    const body = { operationName: name, variables, ...(sendDocument && { query: text }), extensions };
    return { method: 'POST', headers: [...headers, 'Content-Type', 'application/json'], body: JSON.stringify(body) };
  }
  const params = {
    operationName: name,
    variables: JSON.stringify(variables),
    ...(sendDocument && { query: text }),
    extensions: JSON.stringify(extensions),
  };
  const search = Object.entries(params).map(([key, value]) => `${urlEncode(key)}=${urlEncode(value)}`);
  const path = `${new URL(url).pathname}?${search.join('&')}`;
  return { method: 'GET', path, headers: ['Apollo-Require-Preflight', 'true', ...headers] };
}

/** All but the unreserved characters of RFC 3986 §2.3. */
function urlEncode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A status that is no success counts only in the media type that is GraphQL's own: others could be a proxy's. */
function read<Data>({ status, headers, body }: RawResponse): Answer<Data> {
  const isGraphQL = String(headers['content-type']).startsWith('application/graphql-response+json');
  if ((status < 200 || status > 299) && !isGraphQL) throw new ClientError(`ApolloHttpException ${status}`);
  return parsed<Answer<Data>>(body);
}

/** Only the message is looked at, whatever its case. */
function says({ errors }: Answer<unknown>, message: string): boolean {
  return errors?.some((error) => error.message.toLowerCase() === message.toLowerCase()) === true;
}
