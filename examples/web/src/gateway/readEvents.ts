import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * Reads server-sent events to the end of a body: `onEvents` hears those of one piece of it together, and of none for a piece
 * that only shows that the connection lives. Rejects if the connection breaks, if nothing comes for `silenceMs`, or with
 * what `onEvents` throws.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silenceMs: number,
  onEvents: (events: readonly EventSourceMessage[]) => void,
): Promise<void> {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const silence = new AbortController();
  let timer = 0;
  const listen = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), silenceMs);
  };
  const sink = new WritableStream<string>({
    write: (text) => {
      listen();
      parser.feed(text);
      onEvents(events);
      events = [];
    },
  });
  listen();
  try {
    await body.pipeThrough(new TextDecoderStream()).pipeTo(sink, { signal: silence.signal });
  } finally {
    window.clearTimeout(timer);
  }
}
