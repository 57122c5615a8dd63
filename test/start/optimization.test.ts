import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The bits in V8's `%GetOptimizationStatus` that name the compiler of a function's code. */
const maglev = 1 << 4;
const turbofan = 1 << 5;

/**
 * Calls a function often while V8 may not optimize, and often once V8 may. Prints the status after each phase. The
 * caller is never optimized, because V8 would then inline the function into it.
 */
const script = `
  await import(${JSON.stringify(new URL('../../src/v8.js', import.meta.url).href)});
  const { allowOptimization } = await import(${JSON.stringify(new URL('../../src/process/optimization.ts', import.meta.url).href)});
  const { setTimeout: sleep } = await import('node:timers/promises');
  let sum = 0;
  const add = (value) => { sum = (sum + value) % 1000; };
  const callOften = () => { for (let count = 0; count < 1000; count += 1) add(count); };
  %NeverOptimizeFunction(callOften);
  const statusAfterCalls = async () => {
    for (let round = 0; round < 30; round += 1) {
      callOften();
      await sleep(1);
    }
    return %GetOptimizationStatus(add);
  };
  const before = await statusAfterCalls();
  allowOptimization();
  console.log(before, await statusAfterCalls());
`;

test('code that the first requests of a server made hot is fully optimized later', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--allow-natives-syntax', '--input-type=module', '--eval', script],
    { env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } },
  );
  const [before = 0, after = 0] = stdout.split(' ').map(Number);
  expect(before & (maglev | turbofan)).toBe(maglev);
  expect(after & turbofan).toBe(turbofan);
});
