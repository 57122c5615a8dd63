import { expect, test } from 'vitest';
import { foundNoConnection } from '../../src/rest/failure-reasons.ts';
import { toDomainError } from '../../src/rest/transport/decode-response.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';

/** A call that has failed with an error of the system's, as undici hands it on. */
function failedWith(facts: { readonly code: string; readonly syscall?: string }): unknown {
  return toDomainError(new TransportError('network', Object.assign(new Error('failed'), facts)));
}

test.each([
  { code: 'ECONNREFUSED', syscall: 'connect' },
  { code: 'EHOSTUNREACH', syscall: 'connect' },
  { code: 'ENETUNREACH', syscall: 'connect' },
  { code: 'ETIMEDOUT', syscall: 'connect' },
  { code: 'ENOTFOUND', syscall: 'getaddrinfo' },
  { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
  { code: 'UND_ERR_CONNECT_TIMEOUT' },
])('a call that failed with $code in connecting was never sent', (facts) => {
  expect(foundNoConnection(failedWith(facts))).toBe(true);
});

test('a call that failed at every address of its host was never sent', () => {
  const refused = Object.assign(new Error('failed'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const all = new AggregateError([refused, refused]);
  expect(foundNoConnection(toDomainError(new TransportError('network', all)))).toBe(true);
});

test.each([
  { code: 'EHOSTUNREACH', syscall: 'read' },
  { code: 'ECONNRESET', syscall: 'read' },
  { code: 'ETIMEDOUT', syscall: 'read' },
  { code: 'EPIPE', syscall: 'write' },
  { code: 'UND_ERR_HEADERS_TIMEOUT' },
  { code: 'UND_ERR_SOCKET' },
])('a call that failed with $code $syscall may have been sent', (facts) => {
  expect(foundNoConnection(failedWith(facts))).toBe(false);
});
