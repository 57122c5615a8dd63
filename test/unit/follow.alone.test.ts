import { once } from 'node:events';
import { expect, test } from 'vitest';
import { follow } from '../../src/follow.ts';

test('a listener that throws keeps neither the other listeners nor the count of reloads from a new value', async () => {
  const lines: string[] = [];
  const adopted: number[] = [];
  const log = (_level: string, message: string): void => void lines.push(message);
  const followed = await follow({ name: 'numbers', first: () => 1, again: () => 2, pollMs: 60_000, log });
  followed.onChange(() => {
    throw new Error('no');
  });
  followed.onChange((value) => adopted.push(value));
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  try {
    const rejection = once(process, 'unhandledRejection');
    await followed.reload();
    expect(await rejection).toMatchObject([{ message: 'no' }, {}]);
  } finally {
    for (const listener of listeners) process.on('unhandledRejection', listener);
    followed.close();
  }
  expect([followed.current(), adopted, lines]).toEqual([2, [2], []]);
  expect(followed.reloads).toEqual({ ok: 1, failed: 0 });
});
