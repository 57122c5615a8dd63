import { readFileSync } from 'node:fs';

/** The path of the certificate of the authority that signed `serverTls`; nobody else trusts it. */
export const authorityPath = new URL('tls/authority.pem', import.meta.url).pathname;

/** That certificate. */
export const authority = read('authority.pem');

/** A server's key and its certificate for `127.0.0.1`, `localhost` and `upstream.test`, valid for a hundred years. */
export const serverTls = { key: read('server-key.pem'), cert: read('server.pem') };

/** The same key with a certificate that has expired. */
export const expiredTls = { key: serverTls.key, cert: read('expired.pem') };

/** The same key with a certificate for another name. */
export const otherNameTls = { key: serverTls.key, cert: read('other-name.pem') };

function read(name: string): string {
  return readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');
}
