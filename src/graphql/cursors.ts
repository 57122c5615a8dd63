import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CursorCodec } from '../context.ts';
import { type ListRef, listText, type Position } from '../rest/pages.ts';
import { quoted, UserInputError } from './input-error.ts';

/** Bytes of the authentication code that a cursor begins with. */
const codeBytes = 12;
const maximumLength = 4096;

/**
 * Opaque cursors: base64url of an HMAC-SHA-256 over list and position, and the position itself. They are bound to the
 * list and its filters, not to the caller, and hold across replicas that share the secret.
 */
export function createCursorCodec(secret: string): CursorCodec {
  const codeOf = (list: ListRef, payload: string): Buffer =>
    createHmac('sha256', secret)
      .update(`${listText(list)}\n${payload}`)
      .digest()
      .subarray(0, codeBytes);
  return {
    encode: (list, position) => {
      const payload = toPayload(position);
      return Buffer.concat([codeOf(list, payload), Buffer.from(payload)]).toString('base64url');
    },
    decode: (list, cursor, argument) => {
      const bytes = cursor.length <= maximumLength ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
      const payload = bytes.subarray(codeBytes).toString('utf8');
      const code = bytes.subarray(0, codeBytes);
      const genuine = bytes.toString('base64url') === cursor && code.length === codeBytes;
      if (genuine && timingSafeEqual(code, codeOf(list, payload))) return fromPayload(payload);
      throw new UserInputError(
        `Expected \`${argument}\` to be a cursor of this list with these filters, but got ${quoted(cursor)}.`,
      );
    },
  };
}

/** Most positions are an offset; those of events also hold the times and the ids at their boundary. */
function toPayload({ offset, before, after, seen }: Position): string {
  if (before === undefined && after === undefined) return String(offset);
  return JSON.stringify([offset, before ?? null, after ?? null, seen ?? []]);
}

function fromPayload(payload: string): Position {
  // The code has proved that `toPayload` wrote it.
  const value: unknown = JSON.parse(payload);
  if (!Array.isArray(value)) return { offset: Number(value) };
  const parts: readonly unknown[] = value;
  const [offset, before, after, seen] = parts;
  return {
    offset: Number(offset),
    before: typeof before === 'string' ? before : undefined,
    after: typeof after === 'string' ? after : undefined,
    seen: Array.isArray(seen) && seen.length > 0 ? seen.map(String) : undefined,
  };
}
