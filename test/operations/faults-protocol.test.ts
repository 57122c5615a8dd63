import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Answer, startGateway } from '../support/gateway.ts';
import { codesOf, expectNothingLeaks } from '../support/outcomes.ts';
import { apiError } from '../support/replies.ts';
import { startWire } from '../support/wire.ts';

const row = '{"id":1,"name":"Project 1"}';
const query = '{ __typename project(id: 1) { name } }';
const whole = { __typename: 'Query', project: { name: 'Project 1' } };

function response(head: string, body = row): string {
  return `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const good = response('200 OK\r\ncontent-type: application/json');

type Write = (socket: Socket) => void;

const send =
  (text: string | Buffer): Write =>
  (socket) =>
    socket.write(text);

/** Meets a fault, then asks whether the next request is answered as it should be. */
async function meet(fault: Write, operationDeadlineMs = 8000): Promise<Answer> {
  let broken = true;
  await using upstream = await startWire((socket) => (broken ? fault(socket) : socket.write(good)));
  await using gateway = await startGateway(upstream, { operationDeadlineMs });
  const answer = await gateway.ask(query);
  expectNothingLeaks(answer, 'phx_test', new URL(upstream.url).port, 'secret');
  expect(upstream.requests.length).toBeLessThanOrEqual(3);
  broken = false;
  const next = await gateway.ask(query, { headers: { authorization: 'Bearer phx_next' } });
  expect(next.data).toEqual(whole);
  expect(gateway.reported).toEqual([]);
  return answer;
}

describe('an answer of the upstream that is', () => {
  const read: [name: string, fault: Write][] = [
    ['preceded by early hints', send(`${'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(5)}${good}`)],
    ['206 Partial Content', send(response('206 Partial Content'))],
    ['without a reason', send(response('200'))],
    ['HTTP/1.0 and ends with the connection', (socket) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${row}`)],
    ['chunked with extensions and trailers', send(chunked('1b;a=b', '0\r\nx-secret: 1\r\n\r\n'))],
    ['gzip in two members', gzipped('x-gzip', Buffer.concat([gzipSync('{"id":1,'), gzipSync('"name":"Project 1"}')]))],
    ['followed by another one', send(good + response('200 OK', '{"id":1,"name":"secret"}'))],
    ['followed by junk', send(`${good}secret\r\n\r\n`)],
    ['of two content types', send(response('200 OK\r\ncontent-type: text/plain\r\ncontent-type: application/json'))],
    [
      'of members that every object has',
      send(response('200 OK', row.replace('{', '{"toJSON":1,"then":2,"constructor":3,'))),
    ],
  ];
  test.each(read)('%s is read', async (_name, fault) => {
    const answer = await meet(fault);
    expect(answer.errors).toBeUndefined();
    expect(answer.data).toEqual(whole);
  });

  const unreadable: [name: string, fault: Write, code: RegExp][] = [
    ['101', send('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'), /UNAVAILABLE/],
    ['205', send(response('205 Reset Content', '')), /INVALID/],
    ['599', send(response('599 secret')), /UNAVAILABLE/],
    ['600', send(response('600 secret')), /UNAVAILABLE/],
    ['999', send(response('999 secret')), /UNAVAILABLE/],
    ['2000', send(response('2000 secret')), /INVALID/],
    ['a negative status', send(response('-1 secret')), /INVALID/],
    [
      'shorter than its length',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n${row}`),
      /UNAVAILABLE/,
    ],
    ['longer than its length', send(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${row}`), /INVALID/],
    ['of two lengths', send(response('200 OK\r\ncontent-length: 5')), /UNAVAILABLE|INVALID/],
    ['of a length and chunked', send(response('200 OK\r\ntransfer-encoding: chunked')), /UNAVAILABLE|INVALID/],
    ['of a negative length', send('HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n'), /INVALID/],
    ['of 9 GB, as it says', send('HTTP/1.1 200 OK\r\ncontent-length: 9000000000\r\n\r\n'), /INVALID/],
    ['chunked badly', send(chunked('zz', '')), /INVALID/],
    ['gzip twice, as it says', send(response('200 OK\r\ncontent-encoding: gzip\r\ncontent-encoding: gzip')), /INVALID/],
    [
      'gzip with something behind it',
      gzipped('gzip', Buffer.concat([gzipSync(row), Buffer.from('secret')])),
      /INVALID/,
    ],
    ['behind a header of 1 MB', send(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`), /INVALID/],
    ['behind a header with a zero in it', send(response('200 OK\r\nx: a\0b')), /INVALID/],
    ['behind a header without a colon', send(response('200 OK\r\nsecret')), /INVALID/],
    ['HTTP/2', send('HTTP/2 200\r\n\r\n'), /INVALID/],
    ['no HTTP at all', send(`${row}\r\n\r\n`), /INVALID/],
  ];
  test.each(unreadable)('%s fails one path', async (_name, fault, code) => {
    const answer = await meet(fault);
    expect(answer.data).toEqual({ __typename: 'Query', project: null });
    const told: unknown = expect.stringMatching(new RegExp(`^project UPSTREAM_\\w*(${code.source})`));
    expect(codesOf(answer)).toEqual([told]);
  });

  test('of members in its prototype only is no object of the API', async () => {
    const answer = await meet(send(response('200 OK', `{"__proto__":${row}}`)));
    expect(codesOf(answer)).toEqual(['project UPSTREAM_INVALID_RESPONSE']);
  });

  test('announced for ever, and a chunk that never ends, end with the deadline', async () => {
    const announced: Write = (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    };
    const [first, second] = await Promise.all([meet(announced, 800), meet(send(chunked('1b', '')), 800)]);
    expect([first, second].flatMap(codesOf)).toEqual(['project UPSTREAM_TIMEOUT', 'project UPSTREAM_TIMEOUT']);
  });
});

test('two Retry-After headers are one, and their calls give their slots back', async () => {
  const limited = response(
    '429 Too Many Requests\r\nretry-after: 30\r\nretry-after: 60',
    JSON.stringify(apiError('throttled')),
  );
  let isLimited = true;
  await using upstream = await startWire((socket) => socket.write(isLimited ? limited : good));
  await using gateway = await startGateway(upstream, { maxUpstreamInFlight: 1, operationDeadlineMs: 2000 });
  for (const key of ['a', 'b', 'c']) {
    const answer = await gateway.ask(query, { headers: { authorization: `Bearer phx_${key}` } });
    expect(answer.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'RATE_LIMITED', upstream: { status: 429, code: 'throttled', detail: 'No.', retryAfter: 30 } },
    ]);
  }
  isLimited = false;
  expect((await gateway.ask(query)).data).toEqual(whole);
});

function chunked(size: string, end: string): string {
  return `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\n${row}\r\n${end}`;
}

function gzipped(coding: string, body: Buffer): Write {
  return (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  };
}
