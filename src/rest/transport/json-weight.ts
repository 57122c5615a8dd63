/** The longest text that is assumed to be average JSON, in characters. */
const shortText = 1024;
/** The bytes per character of average JSON. */
const averageFactor = 4;

/** The memory of an object, a list or a member beyond its text, in bytes of V8's heap, rounded up. */
const bytesOfValue = 64;
/** The memory of an item of a list, in bytes of V8's heap. */
const bytesOfItem = 8;

/** The memory of a JSON text once it is parsed, in bytes: an estimate that is seldom exceeded. */
export function bytesOnceParsed(text: string): number {
  if (text.length <= shortText) return averageBytesOnceParsed(text);
  const { values, commas } = countJson(text);
  return text.length + bytesOfValue * values + bytesOfItem * commas;
}

/** The same estimate for average JSON, without reading the text. */
export function averageBytesOnceParsed({ length }: string): number {
  return length * averageFactor;
}

/** Counts of the characters that make a JSON text large once it is parsed, those inside strings included. */
interface JsonCounts {
  /** The number of characters that begin an object, a list or the value of a member. */
  readonly values: number;
  readonly commas: number;
}

/**
 * The number that each byte adds to the sum of a block. The sum counts colons and opening brackets in its upper 16
 * bits, and commas in its lower 16.
 */
const addends = new Uint32Array(256);
for (const character of ':[{') addends[character.charCodeAt(0)] = 2 ** 16;
addends[','.charCodeAt(0)] = 1;

/** Holds the characters that are counted together. Its length keeps both halves of the sum within 16 bits. */
const block = Buffer.allocUnsafeSlow(2 ** 14);

/**
 * Counts over bytes, because a pass over characters takes six times as long. A character beyond Latin-1 counts as its
 * lower byte, so a count may be too high but never too low.
 */
export function countJson(text: string): JsonCounts {
  let values = 0;
  let commas = 0;
  for (let start = 0; start < text.length; start += block.length) {
    const sum = sumOf(block, block.write(text.slice(start, start + block.length), 'latin1'));
    values += sum >>> 16;
    commas += sum & 0xffff;
  }
  return { values, commas };
}

/** Adds four bytes in each turn of the loop, because a turn itself takes as long as adding one byte. */
function sumOf(bytes: Uint8Array, length: number): number {
  let sum = 0;
  let at = 0;
  for (; at + 3 < length; at += 4)
    sum += addendOf(bytes, at) + addendOf(bytes, at + 1) + addendOf(bytes, at + 2) + addendOf(bytes, at + 3);
  for (; at < length; at += 1) sum += addendOf(bytes, at);
  return sum;
}

function addendOf(bytes: Uint8Array, at: number): number {
  return addends[bytes[at] ?? 0] ?? 0;
}
