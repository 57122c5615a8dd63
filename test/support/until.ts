import { vi } from 'vitest';

/** Waits until something holds, for at most half a minute. Unlike `expect.poll`, it also works in concurrent tests. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`waited in vain until ${String(holds)}`);
    },
    { interval: 10, timeout: 30_000 },
  );
}
