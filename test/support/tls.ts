import { readFileSync } from 'node:fs';
import { type PeerCertificate, TLSSocket } from 'node:tls';

/** The path of the certificate of the authority that signed `serverTls`; no one else trusts it. */
export const authorityPath = pathOf('authority.pem');

/** That certificate. */
export const authority = read('authority.pem');

/** A server's key and its certificate for `127.0.0.1`, `localhost` and `upstream.test`, valid for a hundred years. */
export const serverTls = { key: read('server-key.pem'), cert: read('server.pem') };

/** The same key with a certificate that has expired. */
export const expiredTls = { key: serverTls.key, cert: read('expired.pem') };

/** The same key with a certificate for another name. */
export const otherNameTls = { key: serverTls.key, cert: read('other-name.pem') };

/** Paths of the files of these certificates, and of their key. */
export const tlsPaths = {
  server: pathOf('server.pem'),
  expired: pathOf('expired.pem'),
  otherName: pathOf('other-name.pem'),
  key: pathOf('server-key.pem'),
};

/** Paths of a client's certificate, signed by the same authority, and of its key; its common name is `gateway`. */
export const clientPaths = {
  certificate: pathOf('client.pem'),
  key: pathOf('client-key.pem'),
};

/** That certificate and key. */
export const clientTls = { certificate: read('client.pem'), key: read('client-key.pem') };

/** The common name of the certificate that the client of a connection showed, `no certificate` without one. */
export function clientNameOf(socket: unknown): string {
  const certificate: Partial<PeerCertificate> = socket instanceof TLSSocket ? socket.getPeerCertificate() : {};
  return String(certificate.subject?.CN ?? 'no certificate');
}

function read(name: string): string {
  return readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');
}

function pathOf(name: string): string {
  return new URL(`tls/${name}`, import.meta.url).pathname;
}
