/**
 * The most bytes or characters that are handed to a connection at once. The rest waits until the client has read them.
 */
const sliceLength = 65_536;

/** The bytes of a text or a buffer, in slices that are made one by one. */
export function* slicesOf(body: string | Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): Generator<Buffer> {
  let end = 0;
  for (let start = 0; start < body.length; start = end) {
    end = Math.min(start + sliceLength, body.length);
    if (typeof body !== 'string') yield body.subarray(start, end);
    else {
      if (isLead(body.charCodeAt(end - 1)) && end < body.length) end -= 1;
      yield Buffer.from(body.slice(start, end), encoding);
    }
  }
}

/** True for the first unit of a character that takes two UTF-16 units. */
function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/**
 * `before`, `text` and `after` in slices, in this order. A small text is one slice, which a client can read at once.
 */
export function* framed(before: string, text: string, after: string): Generator<Buffer> {
  if (text.length <= sliceLength) yield Buffer.from(before + text + after);
  else {
    yield Buffer.from(before);
    yield* slicesOf(text);
    yield Buffer.from(after);
  }
}

/** The body of a response, made piece by piece. Each piece is made when its reader asks for it. */
export function toByteStream(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await pieces.next();
    if (piece.done === true) controller.close();
    else controller.enqueue(piece.value);
  };
  return new ReadableStream({ pull, cancel: async () => void (await pieces.return(undefined)) }, { highWaterMark: 0 });
}
