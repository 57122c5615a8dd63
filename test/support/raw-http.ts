import { request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request that no browser and no `fetch` would send. */
export interface RawRequest {
  readonly method?: string;
  /** Path and query, byte for byte. */
  readonly path?: string;
  /** Names and values in turn, so that a header can be sent twice. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

interface Response<Body> {
  readonly status: number;
  /** The last value of each header, by its name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

/** A response whose body is UTF-8 text. */
export type RawResponse = Response<string>;

/** A response with its body as it came over the wire, compressed for example. */
export type BinaryResponse = Response<Buffer>;

/** Sends a request to a server, its headers exactly as they are given; only host and length are added. */
export async function sendRaw(url: string, request: RawRequest): Promise<RawResponse> {
  const { body, ...response } = await sendForBytes(url, request);
  return { ...response, body: body.toString('utf8') };
}

/** The same for an answer that is not text, or is compressed: nothing is decoded. */
export function sendForBytes(
  url: string,
  { method = 'POST', path, headers = [], body = '' }: RawRequest,
): Promise<BinaryResponse> {
  const { hostname, port, pathname, host } = new URL(url);
  const length = method === 'GET' ? [] : ['content-length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      { hostname, port, method, path: path ?? pathname, headers: ['host', host, ...length, ...headers], agent: false },
      (response) => {
        const { statusCode = 0 } = response;
        buffer(response).then(
          (content) => resolve({ status: statusCode, headers: response.headers, body: content }),
          reject,
        );
      },
    );
    request.on('error', reject);
    request.end(method === 'GET' ? undefined : body);
  });
}
