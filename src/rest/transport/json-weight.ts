/** Up to this length a text is taken for what JSON is on average, in characters. */
const shortText = 1024;
const averageFactor = 4;

/** What V8 keeps beside the text for an object, a list or a member, and for an item of a list, in bytes; rounded up. */
const bytesOfMember = 64;
const bytesOfItem = 8;

/** The memory that a text of JSON takes once it is parsed, in bytes: an estimate that is seldom exceeded. */
export function bytesOnceParsed(text: string): number {
  if (text.length <= shortText) return averageBytesOnceParsed(text);
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 44) bytes += bytesOfItem;
    else if (code === 58 || code === 91 || code === 123) bytes += bytesOfMember;
  }
  return bytes;
}

/** The same for JSON as it is on average, without a look at it. */
export function averageBytesOnceParsed({ length }: string): number {
  return length * averageFactor;
}
