import { expect } from 'vitest';

/** Waits until something holds, for as long as `expect.poll` does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(holds, { interval: 10, message: `until ${String(holds)}` }).toBe(true);
}
