import { exactDigits } from '../rest/values.ts';

/** The size of a value as JSON, or of the part that was measured before a limit was exceeded. */
export interface MeasuredJson {
  readonly bytes: number;
  /** The number of objects and lists, including the value itself. */
  readonly values: number;
  /** The response path at which a limit was exceeded, without the indices in lists. */
  readonly path: string | undefined;
}

/** An object or a list that is still to be measured, and its place. */
interface Part {
  readonly value: object;
  readonly name: string;
  readonly above: Part | undefined;
}

/** The most objects and lists of an answer. Each takes far longer to write than its text suggests. */
export const mostValues = 500_000;

/**
 * Measures the JSON text of a value without making the text. Stops as soon as a limit of bytes, or of objects and
 * lists, is exceeded. Does not recurse, because values of upstreams may nest deeply.
 */
export function measureJson(value: unknown, limit: number): MeasuredJson {
  const unmeasured: Part[] = [];
  const texts = new Map<string, number>();
  const sizeOf = (member: unknown, name: string, above: Part | undefined): number => {
    if (typeof member === 'string') return textBytes(member, texts);
    if (typeof member !== 'object' || member === null) return scalarBytes(member);
    const digits = exactDigits(member);
    if (digits !== undefined) return digits.length;
    unmeasured.push({ value: member, name, above });
    // The bytes of its brackets.
    return 2;
  };
  let bytes = sizeOf(value, '', undefined);
  let values = 0;
  for (let part = unmeasured.pop(); part !== undefined; part = unmeasured.pop()) {
    values += 1;
    if (Array.isArray(part.value)) {
      const items: readonly unknown[] = part.value;
      for (const item of items) bytes += sizeOf(item, '', part) + 1;
    } else bytes += membersBytes(part, sizeOf);
    if (bytes > limit || values + unmeasured.length > mostValues)
      return { bytes, values: values + unmeasured.length, path: pathOf(part) };
  }
  return { bytes, values, path: undefined };
}

function membersBytes(part: Part, sizeOf: (member: unknown, name: string, above: Part) => number): number {
  let bytes = 0;
  for (const [name, member] of Object.entries(part.value)) {
    // Response keys need no escapes; names within JSON values may.
    if (member !== undefined) bytes += textBytes(name) + 2 + sizeOf(member, name, part);
  }
  return bytes;
}

/** Characters that JSON escapes, or that take more than one byte. */
const special = /[^ !#-[\]-~]/;

/** Texts of at least this length are measured once, however often they occur. */
const longTextLength = 256;

function textBytes(text: string, known?: Map<string, number>): number {
  if (known === undefined || text.length < longTextLength) return quotedBytes(text);
  const bytes = known.get(text) ?? quotedBytes(text);
  known.set(text, bytes);
  return bytes;
}

function quotedBytes(text: string): number {
  return special.test(text) ? Buffer.byteLength(JSON.stringify(text)) : text.length + 2;
}

/** The bytes of a number, a boolean or null. JSON leaves out any other value, or writes null for it. */
function scalarBytes(value: unknown): number {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value).length : 4;
}

function pathOf(part: Part): string {
  const names: string[] = [];
  for (let at: Part | undefined = part; at !== undefined; at = at.above) if (at.name !== '') names.unshift(at.name);
  return names.slice(0, mostNames).join('.').slice(0, longestPath);
}

/** The limits of a path in a message. Names within JSON values come from the upstream, which does not limit them. */
const [mostNames, longestPath] = [20, 300];
