import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { codeOf } from '../error-text.ts';
import type { Route } from '../rest/transport/connect.ts';
import { optional, SettingsReader } from './reader.ts';
import { certificatesIn, keyFile, pemFile } from './setting-files.ts';

/** Settings of TLS to the upstream: the trusted authorities, and the gateway's client certificate. */
export const tlsSettings = {
  authorities: optional('UPSTREAM_CA', pemFile('PEM file with more certificate authorities for the upstream')),
  certificate: optional(
    'UPSTREAM_CLIENT_CERT',
    pemFile('PEM file with the client certificate, then its intermediate certificates'),
  ),
  key: optional('UPSTREAM_CLIENT_KEY', keyFile('PEM file with the private key of UPSTREAM_CLIENT_CERT')),
};

/** The paths of these settings, by the names of their variables. */
export type TlsFiles = Readonly<Record<string, string>>;

/** The paths that an environment names. */
export function tlsFilesOf({ environment }: SettingsReader): TlsFiles {
  const names = Object.values(tlsSettings).map(({ name }) => name);
  const files = names.map((name) => [name, environment[name] ?? ''] as const);
  return Object.freeze(Object.fromEntries(files.filter(([, path]) => path !== '')));
}

/**
 * Reads the current contents of the files. A file that cannot be used is reported as a fault, and so is a key of another
 * certificate.
 */
export function readTls(reader: SettingsReader): Pick<Route, 'authorities' | 'client'> {
  const { authorities, certificate, key } = tlsSettings;
  const hasCertificate = reader.isSet(certificate.name);
  const hasKey = reader.isSet(key.name);
  const trusted = { authorities: reader.read(authorities) };
  if (!hasCertificate && !hasKey) return trusted;
  const pem = reader.need(certificate, `${key.name} is set`);
  const keyPem = reader.need(key, `${certificate.name} is set`);
  if (pem === undefined || keyPem === undefined || !isPair(pem, keyPem, reader)) return trusted;
  return { ...trusted, client: { certificate: pem, key: keyPem } };
}

function isPair(certificate: string, key: string, reader: SettingsReader): boolean {
  const { certificate: first, key: second } = tlsSettings;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    reader.fault(
      second.name,
      `expected the key of the first certificate of ${first.name}, but the file holds the key of another`,
    );
    return false;
  }
  try {
    createSecureContext({ cert: certificate, key });
    return true;
  } catch (error) {
    reader.fault(first.name, `expected a certificate that OpenSSL takes, but got ${codeOf(error) ?? 'an error'}`);
    return false;
  }
}

/**
 * The route to a server other than the upstream. At each use it has the authorities that the file then holds. A file
 * that cannot be used changes nothing.
 */
export function currentRoute(route: Route, files: TlsFiles): () => Route {
  const reader = new SettingsReader(files);
  let current = route;
  return () => {
    const authorities = reader.read(tlsSettings.authorities);
    if (authorities !== undefined) current = { ...current, authorities };
    return current;
  };
}

/** The time at which the first of these PEM certificates expires, in seconds since 1970. */
export function firstExpiryOf(pem: string): number {
  return Math.min(...certificatesIn(pem).map(({ validToDate }) => validToDate.getTime() / 1000));
}
