import { type Arbitrary, array, constant, constantFrom, integer, oneof, record, tuple } from 'fast-check';
import type { RawRequest } from '../support/raw-http.ts';
import { bodies, searches } from './params.ts';

type Lines = readonly string[];

/** A header that is absent, usual, odd or there twice. */
function header(name: string, ...values: readonly (string | undefined)[]): Arbitrary<Lines> {
  return constantFrom(...values).map((value) => (value === undefined ? [] : [name, value]));
}

const contentType = oneof(
  { weight: 12, arbitrary: constant<Lines>(['content-type', 'application/json']) },
  {
    weight: 1,
    arbitrary: header(
      'content-type',
      undefined,
      '',
      'Application/JSON; charset=utf-8',
      'application/json;charset=utf-16',
      'application/json ; x',
      'application/jsonp',
      'application/graphql',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ),
  },
);

const accept = oneof(
  { weight: 6, arbitrary: constantFrom<Lines>([], ['accept', 'application/json'], ['accept', '*/*']) },
  {
    weight: 1,
    arbitrary: header(
      'accept',
      '',
      'application/graphql-response+json',
      'application/graphql-response+json, application/json;q=0.9',
      'application/json;q=0',
      'application/json; charset=utf-16',
      'Application/*',
      'text/html',
      'text/html,application/xhtml+xml,*/*;q=0.8',
      'image/png',
      'nonsense',
      ',,',
    ),
  },
);

const authorization = oneof(
  { weight: 8, arbitrary: constant<Lines>(['authorization', 'Bearer phx_test']) },
  {
    weight: 1,
    arbitrary: constantFrom<Lines>(
      [],
      ['authorization', ''],
      ['authorization', 'Basic abc'],
      ['authorization', 'Bearer phx_a', 'authorization', 'Bearer phx_b'],
    ),
  },
);

const otherHeaders = tuple(
  header('accept-encoding', undefined, undefined, 'gzip', 'br;q=0.5, gzip', 'identity', 'gzip;q=0', '*'),
  header('x-request-id', 'fixed-1', 'fixed-1', 'not a word', ''),
  header('origin', undefined, undefined, 'https://app.example', 'https://evil.example', 'null'),
  header('traceparent', undefined, undefined, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'nonsense'),
  header('content-encoding', ...Array.from({ length: 15 }, () => undefined), 'gzip', 'identity', ''),
  header('access-control-request-method', ...Array.from({ length: 8 }, () => undefined), 'POST'),
);

const method = oneof(
  { weight: 8, arbitrary: constantFrom('POST', 'GET') },
  { weight: 1, arbitrary: constantFrom('PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD') },
);

/** A request of any client, honest, sloppy or hostile. */
export const requests: Arbitrary<RawRequest> = record({
  method,
  search: searches,
  turn: integer({ min: 0, max: 9 }),
  body: bodies,
  contentType,
  accept,
  authorization,
  otherHeaders,
  turns: integer({ min: 0, max: 5 }),
  repeated: array(constantFrom<Lines>(['x-request-id', 'second'], ['accept', 'text/html']), { maxLength: 1 }),
}).map((parts) => ({
  method: parts.method,
  // Parameters in the URL of a POST mean nothing.
  path: `/graphql${(parts.method === 'GET') === parts.turn < 9 ? parts.search : ''}`,
  body: parts.body,
  headers: rotated(
    [
      parts.contentType,
      parts.accept,
      parts.authorization,
      ...parts.otherHeaders,
      ...(parts.turns === 5 ? parts.repeated : []),
    ],
    parts.turns,
  ).flat(),
}));

/** The order of headers means nothing, so it may be any. */
function rotated<T>(items: readonly T[], turns: number): T[] {
  return [...items.slice(turns), ...items.slice(0, turns)];
}
