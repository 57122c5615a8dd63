import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CursorCodec } from '../context.ts';
import { RecentMap } from '../recent-map.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import { current } from '../rest/paths.ts';
import type { Position } from '../rest/positions.ts';
import { jsonIn } from '../rest/values.ts';
import { quoted, UserInputError } from './input-error.ts';

const codeBytes = 12;
const maximumLength = 4096;

/** The maximum number of verified cursors to remember. Verifying a cursor takes as long as a small operation. */
const mostRemembered = 1000;

/** The most characters that a cursor and the text of its list may have together, if the cursor is remembered. */
const longestRemembered = 300;

/**
 * Opaque cursors. A cursor is the base64url of a signature and a payload. The payload of a list's cursor is the id of
 * its project or organization, and a position. The signature is the start of an HMAC-SHA-256 over the list, its filters
 * and the payload. It does not depend on the caller. Replicas that share the secret accept each other's cursors. A
 * cursor of a list below `@current` is also accepted for the list of a project or organization that is named by its id,
 * and vice versa: only a call could show if both are the same list.
 */
export function createCursorCodec(secret: string): CursorCodec {
  const codeOf = (of: string, payload: string): Buffer =>
    createHmac('sha256', secret).update(`${of}\n${payload}`).digest().subarray(0, codeBytes);
  const sign = (of: string, payload: string): string =>
    Buffer.concat([codeOf(of, payload), Buffer.from(payload)]).toString('base64url');
  const genuine = new RecentMap<string, string>({ entries: mostRemembered });
  const payloadOf = (of: string, cursor: string): string | undefined => {
    const name = `${of}\n${cursor}`;
    const known = genuine.get(name);
    if (known !== undefined) return known;
    const payload = verified(of, cursor);
    if (payload !== undefined && name.length <= longestRemembered) genuine.set(name, payload);
    return payload;
  };
  const verified = (of: string, cursor: string): string | undefined => {
    const bytes = cursor.length <= maximumLength ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
    const payload = bytes.subarray(codeBytes).toString('utf8');
    const code = bytes.subarray(0, codeBytes);
    const isWhole = bytes.toString('base64url') === cursor && code.length === codeBytes;
    return isWhole && timingSafeEqual(code, codeOf(of, payload)) ? payload : undefined;
  };
  return {
    encode: (list, position) => sign(ownerless(list), `${list.scope}\n${toPayload(position)}`),
    decode: (list, cursor, argument) => {
      const payload = payloadOf(ownerless(list), cursor);
      const position = payload === undefined ? undefined : positionIn(list, payload);
      if (position !== undefined) return position;
      throw new UserInputError(
        `Expected \`${argument}\` to be a cursor of this list with these filters, but got ${quoted(cursor)}.`,
      );
    },
    encodeQuery: sign,
    decodeQuery: (log, cursor, argument) => {
      const query = payloadOf(log, cursor);
      if (query !== undefined && /^\?[!-~]+$/.test(query)) return query;
      throw new UserInputError(`Expected \`${argument}\` to be a cursor of this log, but got ${quoted(cursor)}.`);
    },
  };
}

/** The list as a text, without the project or organization that it belongs to. */
function ownerless(list: ListRef): string {
  return listText({ ...list, scope: current });
}

/** The position in a payload; undefined if the list belongs to another project or organization. */
function positionIn({ scope }: ListRef, payload: string): Position | undefined {
  const end = payload.indexOf('\n');
  const own = payload.slice(0, end);
  return own === scope || own === current || scope === current ? toPosition(payload.slice(end + 1)) : undefined;
}

/** The payload of a position: mostly an offset; for events also the times, and the ids at their boundary. */
function toPayload({ offset, before, after, boundary, isDeadEnd = false }: Position): string {
  const isPlain = before === undefined && after === undefined && boundary === undefined && !isDeadEnd;
  if (isPlain) return String(offset);
  const instants = [before, after, boundary?.time].map((time) => time ?? null);
  return JSON.stringify([offset, ...instants, boundary?.ids ?? [], ...(isDeadEnd ? [true] : [])]);
}

/**
 * The position in a payload; undefined if `toPayload` cannot have written it. A signed payload is checked, too: without
 * CURSOR_SECRET, the secret is derived from the upstream's address, so a client may guess it and sign anything.
 */
function toPosition(payload: string): Position | undefined {
  const value = jsonIn(payload);
  const members: readonly unknown[] = Array.isArray(value) ? value : [value];
  const [offset, before = null, after = null, time = null, ids = [], isDeadEnd = false] = members;
  const isValid = isOffset(offset) && isTime(before) && isTime(after) && isTime(time) && isListOfIds(ids);
  if (!isValid) return undefined;
  if (!Array.isArray(value)) return { offset };
  return {
    offset,
    before: before ?? undefined,
    after: after ?? undefined,
    boundary: time === null ? undefined : { time, ids },
    isDeadEnd: isDeadEnd === true ? true : undefined,
  };
}

/** Far beyond any list, but small enough that adding a page loses no digits. */
const largestOffset = 1e15;

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= largestOffset;
}

/** True for null or a time. The upstream decides the form of times, so only a text that no URL can hold is refused. */
function isTime(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value.isWellFormed());
}

function isListOfIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((id) => typeof id === 'string');
}
