import { createPrivateKey, X509Certificate } from 'node:crypto';
import { toKeySet } from '../auth/key-set.ts';
import { messageOf } from '../error-text.ts';
import { sourcesOf } from '../operation/persisted/manifest.ts';
import { readTextFile } from '../read-text.ts';
import { type Kind, showNothing, ValueError } from './settings-reader.ts';
import { hasCredentials, safeUrlIn, shownUrl, shownUrls } from './urls.ts';

/** The text of a file. Throws a ValueError if it cannot be read, or holds nothing. */
function contentOf(path: string): string {
  const text = readTextFile(path, (why) => new ValueError(why));
  if (text.trim() === '') throw new ValueError('the file is empty');
  return text;
}

/** The text of a file of JSON. Throws a ValueError for a text that looks like another format. */
export function jsonTextIn(path: string): string {
  const text = contentOf(path);
  const form = formOf(text);
  if (form !== json) throw new ValueError(`the file holds ${form}`);
  return text;
}

/**
 * The token in a file, without the white space around it. Throws a ValueError if the file is empty or cannot be read.
 */
export function tokenIn(path: string): string {
  return contentOf(path).trim();
}

/**
 * The operators' token, read from a file. Throws a ValueError if the token is short enough to guess, or is no token.
 */
export function adminTokenIn(path: string): string {
  const token = tokenIn(path);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new ValueError('the token in the file has blanks, or characters other than ASCII');
  if (token.length < 32) throw new ValueError(`the token in the file has ${token.length} characters`);
  return token;
}

/**
 * A file with a secret. The value is the path of the file, because the users of the secret read the file themselves.
 * `contentIn` reads the file once, to check it.
 */
export function secretFile(expected: string, contentIn = contentOf): Kind<string> {
  return {
    expected,
    shown: showNothing,
    read: (path) => {
      contentIn(path);
      return path;
    },
  };
}

/** A file of certificates. The value is the certificates in PEM form, without the other contents of the file. */
export const pemFile: Kind<string> = {
  expected: 'the path of a PEM file with certificates',
  shown: shownPath,
  read: (path) => {
    const pem = contentOf(path);
    const certificates = certificatesIn(pem);
    if (certificates.length === 0) throw new ValueError(`the file holds ${formOf(pem)}`);
    return certificates.join('');
  },
};

export const keyFile: Kind<string> = {
  expected: 'the path of a PEM file with a private key that has no passphrase',
  shown: showNothing,
  read: (path) => keyIn(contentOf(path)),
};

/** The location of a key set. A file is read at once to check it. */
export const keySet: Kind<string> = {
  expected: 'an https URL (http on loopback only), or the path of a JSON Web Key Set',
  // A value that is not a URL may be a secret that tokens are signed with.
  shown: (source) => (isUrl(source) ? shownUrl(source) : undefined),
  read: (source) => (isUrl(source) ? safeUrlIn(source)?.href : keySetFile(source)),
};

function isUrl(source: string): boolean {
  return /^\s*[a-z][a-z\d+.-]+:/i.test(source) || /:\/\/|@/.test(source);
}

function keySetFile(path: string): string {
  const content = jsonTextIn(path);
  try {
    toKeySet(content, 'the file');
    return path;
  } catch (error) {
    throw new ValueError(messageOf(error));
  }
}

/** The locations of manifests. Messages leave out what may hold a key in a URL. */
export const manifests: Kind<string> = {
  expected: 'paths of files or folders, globs, or https URLs (http on loopback only), separated by commas',
  shown: (source) => (/:\/\/|@/.test(source) ? shownUrls(source) : JSON.stringify(source)),
  read: (source) => {
    if (hasCredentials(source)) return undefined;
    const { patterns, urls } = sourcesOf(source);
    const isUsable = patterns.every((pattern) => !pattern.includes('://')) && urls.every((url) => safeUrlIn(url));
    return isUsable ? source : undefined;
  },
};

/** The certificates in a text in PEM form. Throws a ValueError for one that is broken. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return pem
    .split(/(?=-----BEGIN CERTIFICATE-----)/)
    .filter((text) => text.startsWith('-----BEGIN CERTIFICATE-----'))
    .map((text, index) => {
      try {
        return new X509Certificate(text);
      } catch {
        throw new ValueError(`certificate ${index + 1} of the file is broken`);
      }
    });
}

function keyIn(pem: string): string {
  const form = formOf(pem);
  if (form !== privateKey) throw new ValueError(`the file holds ${form}`);
  try {
    return createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' });
  } catch {
    throw new ValueError('the private key in the file is broken');
  }
}

const privateKey = 'a private key';
const json = 'JSON';

/** The forms of text that are recognised, each with its pattern. The first pattern that matches counts. */
const forms: readonly (readonly [pattern: RegExp, form: string])[] = [
  [/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m, 'a private key with a passphrase'],
  [/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/, privateKey],
  [/-----BEGIN CERTIFICATE-----/, 'a certificate'],
  [/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/, 'a request for a certificate'],
  [/-----BEGIN (?:[A-Z]+ )?PUBLIC KEY-----/, 'a public key'],
  [/-----BEGIN /, 'something else in PEM form'],
  [/^\uFEFF?\s*[{[]/, json],
  [/^0[\x80-\x84\uFFFD]/, 'something in DER form'],
];

/** Names the form of a file's text, for messages that say that another form was expected. */
function formOf(text: string): string {
  return forms.find(([pattern]) => pattern.test(text))?.[1] ?? 'something else';
}

/** A path as messages may show it. A value that is no path is not quoted, because it may be a key. */
function shownPath(source: string): string {
  return /-----|[\n{]/.test(source) ? 'the content of a file' : JSON.stringify(source);
}
