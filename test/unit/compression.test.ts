import { expect, test } from 'vitest';
import { codingFor, compressedOnce } from '../../src/http/compression.ts';

const large = { body: 'a'.repeat(1025) };

test.each([
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  [' gzip ; q=1.0 ,deflate', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0.8;x=1, gzip;q=0.8', 'br'],
  ['*', 'br'],
  ['*;q=0.1, br;q=0', 'gzip'],
  ['gzip;q=0.5, *;q=0.9', 'br'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
])('%j is answered in %s', (accepted, coding) => {
  expect(codingFor(accepted, large)).toBe(coding);
});

test.each([
  '',
  'identity',
  'deflate, zstd',
  'gzip;q=0',
  'gzip;q=0.000, br;q=0',
  '*;q=0',
  'identity, gzip;q=0.5',
  'identity;q=0',
  'gzip;q=2',
  'gzip;q=abc',
  'gzip;q=',
  'gzipped',
  'gzip br',
])('%j is answered as it is', (accepted) => {
  expect(codingFor(accepted, large)).toBeUndefined();
});

test('bodies up to 1 KB are answered as they are', () => {
  expect(codingFor('gzip', { body: 'a'.repeat(1024) })).toBeUndefined();
});

test('a hostile header takes no longer than a harmless one', () => {
  for (const part of [' ', ';', ',', ';q=', 'q= ', '*;'])
    expect(codingFor(`gzip;q=1${part.repeat(16_000)}`, large)).toBe(
      part === 'q= ' || part === '*;' ? undefined : 'gzip',
    );
});

test('an answer that never changes is compressed once for each coding', async () => {
  const plain = { status: 200, headers: {}, body: Buffer.alloc(10_000, 'a') };
  const variantFor = compressedOnce(plain);
  const [first, second] = await Promise.all([variantFor('br'), variantFor('gzip, br')]);
  expect(first.headers).toEqual({ 'content-encoding': 'br' });
  expect(second.body).toBe(first.body);
  expect((await variantFor('br')).body).toBe(first.body);
  expect((await variantFor('gzip')).body).not.toBe(first.body);
  expect(await variantFor(undefined)).toBe(plain);
});
