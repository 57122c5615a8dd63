import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toUpstreamError } from '../../src/rest/response-errors.ts';

const key = 'phx_K3y';

function factsOf(status: number, body: unknown, secret = key): unknown {
  return toUpstreamError(status, {}, JSON.stringify(body), secret).upstream;
}

function apiError(code: string): string {
  return JSON.stringify({ type: 'authentication_error', code, detail: 'Invalid.', attr: null });
}

describe('the code of a failed call', () => {
  test('stays UNAUTHENTICATED if the key is short enough to be part of the word', () => {
    const error = toUpstreamError(403, {}, apiError('authentication_failed'), 'a');
    expect([error.code, error.upstream]).toEqual(['UNAUTHENTICATED', { status: 403 }]);
  });

  test('comes with a message of ours that holds nothing of the body', () => {
    const body = JSON.stringify({ code: 'invalid', detail: 'Too long.', attr: 'name' });
    expect(toUpstreamError(400, {}, body, key).message).toBe('The upstream rejected the input.');
    expect(toUpstreamError(400, {}, '', key).message).toBe('The upstream rejected the input.');
  });
});

describe('the detail of a failed call', () => {
  const kept = [
    "API key missing required scope 'dashboard:write'",
    'Not found.',
    'This field may not be blank.',
    'Ensure this field has no more than 400 characters.',
    '"banana" is not a valid choice.',
    'Request was throttled. Expected available in 27 seconds.',
    'You can only have 3 projects (limit: 3); upgrade to version 2.0.1 or ask ada@example.com.',
    'Expected a date such as 2024-05-01T10:00:00Z or 10:30, but got 2024-05-01T10:00:00.123456+00:00.',
    'A value < 5 and > 3 & not 4, at most 7 (seven).',
    'The file index.ts is missing in plugin.json.',
    'Feld „Name“ ist zu lang – höchstens 400 Zeichen 🙂',
    'Invalid JSON: {"key": [1, 2]}',
    'x'.repeat(500),
  ];
  test.each(kept)('is kept: %s', (detail) => {
    expect(factsOf(400, { detail })).toEqual({ status: 400, detail });
    expect(factsOf(400, { error: detail })).toEqual({ status: 400, detail });
  });

  const dropped = [
    // Markup.
    '<html><body>Bad gateway</body></html>',
    '<!DOCTYPE html>',
    'Expected text but got <b>bold</b>',
    'closing </div>',
    // Addresses.
    'see https://internal.example.com/api/',
    'connect to postgres://user@db failed',
    'see //cdn.example.com/x',
    'connect to 10.0.0.5 failed',
    'server at "172.16.254.1", port 5432',
    'listening on [::1]:8000',
    'no route to fe80::1ff:fe23:4567:890a',
    'peer fd00:: is down',
    'peer 2001:db8:0:1:1:1:1:1 is down',
    'localhost refused',
    'posthog-web.internal refused',
    'web.default.svc.cluster.local refused',
    'cannot reach web-1:8000',
    'cannot reach api.example.com:443',
    'redis:6379 is down',
    // Keys.
    `${key} is unknown`,
    `unknown key "${key}"`,
    'another key phx_abcdef',
    'project token phc_abcdef',
    'Header was: Bearer abcdef',
    'bad 9f8e7d6c5b4a39281706f5e4d3c2b1a0ff token',
    'password=hunter2secret for admin',
    // Stacks.
    'TypeError: x is not a function at handler (/app/server.js:1:2)',
    'at /app/server.js:1:2',
    'at Object.<anonymous>(x)',
    'Traceback (most recent call last):',
    'File "/code/posthog/api.py", line 3, in get',
    'com.example.Api.get(Api.java:42)',
    // Not one sentence.
    '',
    'x'.repeat(501),
  ];
  test.each(dropped)('is dropped: %s', (detail) => {
    expect(factsOf(400, { detail })).toEqual({ status: 400 });
    expect(factsOf(400, { error: detail })).toEqual({ status: 400 });
    // It is dropped from the validation errors, too.
    expect(factsOf(400, { name: [detail] })).toEqual({ status: 400 });
  });
});

describe('code and attr of a failed call', () => {
  test('are kept if they are words', () => {
    const words = { code: 'invalid_input', attr: 'filters__date_from' };
    expect(factsOf(400, { type: 'validation_error', ...words, extra: { more: 1 } })).toEqual({ status: 400, ...words });
    expect(factsOf(400, { code: 'a.b-c', attr: 'tiles[0].name' })).toEqual({
      status: 400,
      code: 'a.b-c',
      attr: 'tiles[0].name',
    });
  });

  const notWords = ['', 'two words', '<b>', 'a/b', 'http://x', 'x'.repeat(201), 7, null, ['a'], { a: 1 }];
  const secrets = [key, `${key}.suffix`, 'phx_other', 'posthog-web.internal', '10.0.0.5'];
  test.each([...notWords, ...secrets])('are dropped: %j', (text) => {
    expect(factsOf(400, { code: text, attr: text })).toEqual({ status: 400 });
  });
});

describe('Retry-After', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12), toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  const retryAfterIn = (headers: Readonly<Record<string, string>>): number | undefined =>
    toUpstreamError(429, headers, '', key).upstream?.retryAfter;
  const forms: [header: string | undefined, seconds: number | undefined][] = [
    ['0', 0],
    ['7', 7],
    [' 7 ', 7],
    ['007', 7],
    ['1.2', 2],
    ['3600', 3600],
    ['3601', 3600],
    ['99999999999', 3600],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30],
    ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
    ['Fri, 02 Jan 2026 12:00:00 GMT', 3600],
    [undefined, undefined],
    ['', undefined],
    ['-1', undefined],
    ['+1', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['1, 2', undefined],
    ['1;2', undefined],
    ['soon', undefined],
    ['in 5 minutes', undefined],
    ['May 1', undefined],
    ['Thu, 99 Foo 2026 99:99:99 GMT', undefined],
    ['Infinity', undefined],
    ['NaN', undefined],
    ['9'.repeat(400), undefined],
  ];
  test.each(forms)('of %j is %j seconds', (header, seconds) => {
    expect(retryAfterIn(header === undefined ? {} : { 'retry-after': header })).toBe(seconds);
  });

  test('as a date is counted on the clock of its sender', () => {
    const header = 'Thu, 01 Jan 2026 12:10:30 GMT';
    const date = 'Thu, 01 Jan 2026 12:10:00 GMT';
    expect(retryAfterIn({ 'retry-after': header, date })).toBe(30);
    expect(retryAfterIn({ 'retry-after': header, date: 'soon' })).toBe(630);
  });
});
