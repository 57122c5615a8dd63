import { countJson } from '../json-counts.ts';

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
