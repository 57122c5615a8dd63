import { expect, test } from 'vitest';
import { NotHttp, type ResponseHeaders, ResponseParser } from '../../src/rest/transport/response-parser.ts';

/** The output of a parser for the bytes of one response. */
interface Parsed {
  status: number;
  headers: ResponseHeaders;
  /** The length that the head tells. */
  length: number | undefined;
  body: string;
  isDone: boolean;
  isPersistent: boolean;
  /** The bytes behind the response. */
  rest: string;
}

/** Parses bytes that come in pieces, which end before the given places. `isEnded`: the connection ends behind them. */
function parse(text: string, places: readonly number[] = [], isEnded = false): Parsed {
  const bytes = Buffer.from(text, 'latin1');
  const parsed: Parsed = {
    ...{ status: 0, headers: {}, length: undefined, body: '', isDone: false, isPersistent: false, rest: '' },
  };
  let ends = 0;
  const parser = new ResponseParser();
  parser.expect({
    onHead: (status, headers, length) => Object.assign(parsed, { status, headers, length }),
    onData: (data) => {
      parsed.body += data.toString('latin1');
    },
    onEnd: () => {
      ends += 1;
    },
  });
  let from = 0;
  for (const to of [...places, bytes.length]) {
    // Bytes are valid during the call only.
    const piece = Buffer.from(bytes.subarray(from, to));
    const end = parser.feed(piece);
    parsed.rest += piece.toString('latin1', end);
    piece.fill(0);
    from = to;
  }
  if (isEnded) parser.end();
  expect(ends).toBe(parser.isDone ? 1 : 0);
  return Object.assign(parsed, { isDone: parser.isDone, isPersistent: parser.isPersistent });
}

const whole: readonly (readonly [string, string, Partial<Parsed>])[] = [
  [
    'a body of known length',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    { status: 200, headers: { 'content-type': 'application/json' }, length: 2, body: '{}', isPersistent: true },
  ],
  [
    'a chunked body with extensions and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a="b"\r\nabc\r\n0A  \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n',
    { status: 200, length: undefined, body: 'abc0123456789', isPersistent: true },
  ],
  ['no reason and no body', 'HTTP/1.1 204\r\n\r\n', { status: 204, length: 0, body: '', isPersistent: true }],
  [
    'a status that has no body, although there is a length',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
    { status: 304, headers: { etag: '"a"' }, length: 0, body: '' },
  ],
  [
    'interim responses before it',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
    { status: 200, body: 'x' },
  ],
  [
    'headers without a value, with blanks around it, and with bytes beyond ASCII',
    'HTTP/1.1 400 B\xe4d\r\nX-Empty:\r\nRetry-After: \t 7 \r\nX-Name: \xfc\r\nContent-Length:0\r\n\r\n',
    { status: 400, headers: { 'retry-after': '7' }, length: 0 },
  ],
  [
    'headers that were sent twice: codings add up, of others the first counts',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: br\r\nRetry-After: 1\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n',
    { headers: { 'content-encoding': 'gzip, br', 'retry-after': '1' } },
  ],
  [
    'a connection that is to be closed',
    'HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx',
    { body: 'x', isPersistent: false },
  ],
  [
    'a connection that is to be kept and to be closed',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
    { body: 'x', isPersistent: false },
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx', { body: 'x', isPersistent: false }],
  [
    'HTTP/1.0 that stays open',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
    { body: 'x', isPersistent: true },
  ],
  [
    'HTTP/1.0 with chunks, which it does not have,',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    { body: 'x', isPersistent: false },
  ],
];

test.each(whole)('%s is read, wherever its bytes are cut', (_what, text, expected) => {
  const all = parse(text);
  expect(all).toMatchObject({ ...expected, isDone: true, rest: '' });
  for (let place = 1; place < text.length; place += 1) expect(parse(text, [place])).toEqual(all);
  expect(
    parse(
      text,
      Array.from({ length: text.length - 1 }, (_, index) => index + 1),
    ),
  ).toEqual(all);
});

test('a body without a length ends with its connection', () => {
  const text = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nabc';
  expect(parse(text)).toMatchObject({ length: undefined, body: 'abc', isDone: false });
  expect(parse(text, [], true)).toMatchObject({ body: 'abc', isDone: true, isPersistent: false });
});

test.each([
  ['its head', 'HTTP/1.1 200 O'],
  ['its headers', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'],
  ['a body of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{'],
  ['a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{'],
  ['the end of its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n'],
])('a response that ends within %s is not complete', (_what, text) => {
  expect(parse(text, [], true).isDone).toBe(false);
});

test('bytes behind a response are left', () => {
  expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n').rest).toBe('HTTP/1.1 200 OK\r\n');
  expect(parse('HTTP/1.1 204 No\r\n\r\n{}').rest).toBe('{}');
});

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

test.each([
  ['the banner of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
  ['HTTP/0.9', '<html></html>\r\n\r\n'],
  ['an unknown minor version', 'HTTP/1.2 200 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['lines without a carriage return', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
  ['a lone carriage return', 'HTTP/1.1 200 OK\r\nA: b\rContent-Length: 0\r\n\r\n'],
  ['a zero byte', 'HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
  ['a blank before a colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: 0\r\n\r\n'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx'],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx'],
  ['a length in hexadecimal', 'HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx'],
  ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n'],
  ['a length beyond all numbers', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunks twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['another transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'],
  ['a chunk without a size', `${chunked}\r\n`],
  ['a chunk whose size is no number', `${chunked}1g\r\n`],
  ['a chunk with a negative size', `${chunked}-1\r\n`],
  ['a chunk whose size has a prefix', `${chunked}0x1\r\nx\r\n`],
  ['a chunk whose size is beyond all numbers', `${chunked}${'f'.repeat(9)}\r\n`],
  ['a chunk that is longer than its size', `${chunked}1\r\nxy\r\n`],
  ['the size of a chunk without a carriage return', `${chunked}1\nx\r\n`],
  ['a trailer that is no header', `${chunked}0\r\nno header\r\n\r\n`],
  ['a head that is too long', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(2 ** 14)}\r\n\r\n`],
  ['a head without an end', `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(4000)}`],
  ['interim responses without an end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)],
  ['an extension of a chunk without an end', `${chunked}1;${'a'.repeat(2 ** 11)}`],
  ['trailers without an end', `${chunked}0\r\n${'A: b\r\n'.repeat(4000)}`],
])('%s is refused', (_what, text) => {
  expect(() => parse(text)).toThrow(NotHttp);
  const byByte = Array.from({ length: text.length - 1 }, (_, index) => index + 1);
  expect(() => parse(text, byByte)).toThrow(NotHttp);
});

test('a change of the protocol is taken for the end of the connection', () => {
  expect(() => parse('HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\n\r\n')).toThrow('CONNECTION_CLOSED');
});

test('another protocol is refused at its first bytes, however slowly it speaks', () => {
  expect(() => parse('220 mail')).toThrow(NotHttp);
});
