import { countJson } from '../json-counts.ts';

/** Up to this length a text is taken for what JSON is on average, in characters. */
const shortText = 1024;
const averageFactor = 4;

/** What V8 keeps beside the text for an object, a list or a member, and for an item of a list, in bytes; rounded up. */
const bytesOfPart = 64;
const bytesOfItem = 8;

/** The memory that a text of JSON takes once it is parsed, in bytes: an estimate that is seldom exceeded. */
export function bytesOnceParsed(text: string): number {
  if (text.length <= shortText) return averageBytesOnceParsed(text);
  const { parts, commas } = countJson(text);
  return text.length + bytesOfPart * parts + bytesOfItem * commas;
}

/** The same for JSON as it is on average, without a look at it. */
export function averageBytesOnceParsed({ length }: string): number {
  return length * averageFactor;
}
