import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { codeOf } from '../error-text.ts';
import type { Route } from '../rest/transport/pools.ts';
import { ConfigError, type Environment, given, type Setting } from './settings.ts';

/** Whom the upstream's certificate may come from, and which one the gateway shows the upstream. */
export const tlsSettings = {
  UPSTREAM_CA: pemFile('PEM file of certificate authorities that are trusted for the upstream, beside those of Node'),
  UPSTREAM_CLIENT_CERT: pemFile(
    'PEM file of the certificate that the gateway shows the upstream, intermediates after it',
  ),
  UPSTREAM_CLIENT_KEY: keyFile('PEM file of the private key of that certificate'),
} as const;

/** The paths of these settings, by their names. */
export type TlsFiles = Readonly<Partial<Record<keyof typeof tlsSettings, string>>>;

/** The paths that an environment names. */
export function tlsFilesOf(environment: Environment): TlsFiles {
  const files: Partial<Record<string, string>> = {};
  for (const name of Object.keys(tlsSettings)) {
    const path = environment[name];
    if (path !== undefined && path !== '') files[name] = path;
  }
  return Object.freeze(files);
}

/** What the files hold now. Throws a ConfigError for one that cannot be used, and for a key of another certificate. */
export function readTls(files: TlsFiles): Pick<Route, 'authorities' | 'client'> {
  const authorities = given(files, 'UPSTREAM_CA', tlsSettings.UPSTREAM_CA);
  const certificate = given(files, 'UPSTREAM_CLIENT_CERT', tlsSettings.UPSTREAM_CLIENT_CERT);
  const key = given(files, 'UPSTREAM_CLIENT_KEY', tlsSettings.UPSTREAM_CLIENT_KEY);
  if (certificate === undefined && key === undefined) return { authorities };
  if (certificate === undefined) throw missing('UPSTREAM_CLIENT_CERT', 'UPSTREAM_CLIENT_KEY');
  if (key === undefined) throw missing('UPSTREAM_CLIENT_KEY', 'UPSTREAM_CLIENT_CERT');
  checkPair(certificate, key);
  return { authorities, client: { certificate, key } };
}

function missing(name: keyof TlsFiles, other: keyof TlsFiles): ConfigError {
  return new ConfigError(`${name}: expected ${tlsSettings[name].expected}, because ${other} is set, but it is not set`);
}

function checkPair(certificate: string, key: string): void {
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new ConfigError(
      'UPSTREAM_CLIENT_KEY: expected the key of the first certificate of UPSTREAM_CLIENT_CERT, but got the key of another',
    );
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    const code = codeOf(error) ?? 'an error';
    throw new ConfigError(`UPSTREAM_CLIENT_CERT: expected a certificate that OpenSSL takes, but got ${code}`);
  }
}

/** When the first of these certificates, in PEM form, expires, in seconds since 1970. */
export function firstExpiryOf(pem: string): number {
  return Math.min(...certificatesIn(pem).map(({ validToDate }) => validToDate.getTime() / 1000));
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return texts.map((text) => new X509Certificate(text));
}

/** A file of certificates; the value is what it holds. */
export function pemFile(meaning: string): Setting<string> {
  return fileOf(meaning, 'the path of a PEM file with certificates', (pem) => {
    const certificates = certificatesIn(pem);
    return certificates.length === 0 ? undefined : certificates.join('');
  });
}

/** A file with a private key; the value is the key. */
function keyFile(meaning: string): Setting<string> {
  return fileOf(meaning, 'the path of a PEM file with a private key that has no passphrase', (pem) =>
    createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }),
  );
}

/** A file whose content `parse` reads; it throws, or returns undefined, if it is of another kind. */
function fileOf(meaning: string, expected: string, parse: (content: string) => string | undefined): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected,
    shown: shownPath,
    read: (path) => {
      try {
        return parse(readFileSync(path, 'utf8'));
      } catch {
        return undefined;
      }
    },
  };
}

/** A path as a message may show it. What is no path is not quoted: it may be a key. */
export function shownPath(source: string): string {
  return /-----|[\n{]/.test(source) ? 'the content of a file' : JSON.stringify(source);
}
