import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toMessageStream } from '../../src/http/message-stream.ts';
import type { StreamMessage } from '../../src/operation/operation-result.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Messages that are told by hand. */
function createMessages() {
  let tell: (message: StreamMessage | undefined) => void = () => undefined;
  async function* told(): AsyncGenerator<StreamMessage> {
    for (;;) {
      const message = await new Promise<StreamMessage | undefined>((resolve) => {
        tell = resolve;
      });
      if (message === undefined) return;
      yield message;
    }
  }
  return { messages: told(), tell: (message?: StreamMessage) => tell(message) };
}

test.each([
  ['text/event-stream', ':\n\n', ':\n\n', 'event: next\ndata: {"data":1}\n\n', 'event: complete\ndata:\n\n'],
  [
    'multipart/mixed',
    '\r\n---',
    '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{}\r\n---',
    '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{"payload":{"data":1}}\r\n---',
    '--\r\n',
  ],
] as const)('%s shows that the connection lives while nothing happens', async (type, start, beat, message, end) => {
  const { messages, tell } = createMessages();
  const pieces = (async function* (): AsyncGenerator<Uint8Array, undefined> {
    yield* toMessageStream(messages, type).pieces;
  })();
  const read = async (): Promise<string | undefined> => {
    const { value } = await pieces.next();
    return value && Buffer.from(value).toString();
  };
  expect(await read()).toBe(start);
  for (let beats = 0; beats < 3; beats += 1) {
    const next = read();
    await vi.advanceTimersByTimeAsync(13_000);
    expect(await next).toBe(beat);
  }
  const next = read();
  await vi.advanceTimersByTimeAsync(12_000);
  tell({ result: { data: 1 }, isLast: false });
  expect(await next).toBe(message);
  const last = read();
  await vi.advanceTimersByTimeAsync(0);
  tell();
  expect([await last, await read()]).toEqual([end, undefined]);
  expect(vi.getTimerCount()).toBe(0);
});
