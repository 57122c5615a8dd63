import { freeLarge } from '../rest/transport/chunks.ts';

/** The most bytes that are handed to a connection at once. The rest waits until the client has read them. */
export const sliceLength = 65_536;

/**
 * `before`, `text` and `after` in slices, in this order. A small text is one slice, which a client can read at once. A
 * large one is first encoded as a whole, so that it waits for its client outside of V8's heap.
 */
export function framed(before: string, text: string, after: string): Iterable<Buffer> {
  if (text.length <= sliceLength) return [Buffer.from(before + text + after)];
  // The generator gets no text. It would keep the text in memory until the client has read the last slice.
  return slicesOf(Buffer.from(before), Buffer.from(text), Buffer.from(after));
}

/**
 * The memory of `bytes` is given back as soon as a reader that has begun has all slices, or stops. The slices are copies,
 * because a connection may still be writing the last slice at that moment.
 */
function* slicesOf(before: Buffer, bytes: Buffer<ArrayBuffer>, after: Buffer): Generator<Buffer> {
  try {
    yield before;
    for (let start = 0; start < bytes.length; start += sliceLength)
      yield Buffer.from(bytes.subarray(start, start + sliceLength));
  } finally {
    freeLarge(bytes);
  }
  yield after;
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
