/** The body of a response, made piece by piece. Each piece is made when its reader asks for it. */
export function toByteStream(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await pieces.next();
    if (piece.done === true) controller.close();
    else controller.enqueue(piece.value);
  };
  return new ReadableStream({ pull, cancel: async () => void (await pieces.return(undefined)) }, { highWaterMark: 0 });
}
