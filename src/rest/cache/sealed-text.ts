import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The key that answers to an upstream key are encrypted with: only a holder of the upstream key can read them. */
export function sealingKeyOf(upstreamKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', upstreamKey, '', 'cached REST answers', 32));
}

/** A text, encrypted so that it can only be opened with the key and as what it was sealed as. */
export function seal(text: string, key: Buffer, sealedAs: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(sealedAs));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** The text that was sealed; undefined if it was sealed with another key or as something else, or has been changed. */
export function open(sealed: Buffer, key: Buffer, sealedAs: string): string | undefined {
  const start = ivBytes + tagBytes;
  if (sealed.length < start) return undefined;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(sealedAs)).setAuthTag(sealed.subarray(ivBytes, start));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
