import { type Answer, ask, type Request } from './gateway.ts';

/** An answer, and how long it took to come, in milliseconds. */
export interface Timed extends Answer {
  readonly tookMs: number;
}

/** Headers of a key of its own. */
export function as(key: string): Request {
  return { headers: { authorization: `Bearer ${key}` } };
}

/** Asks one operation, and measures from the call to its parsed answer. */
export async function askTimed(url: string, query: string, request?: Request): Promise<Timed> {
  const startedAt = performance.now();
  const answer = await ask(url, query, request);
  return { ...answer, tookMs: performance.now() - startedAt };
}

/** Runs `job` for 0 to `count - 1`, at most `concurrency` at a time; results in order. */
export async function together<T>(
  count: number,
  concurrency: number,
  job: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await job(index);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

/** Starts `job` so many times a second for so long, whatever becomes of it; waits for all of it. */
export async function steadily<T>(perSecond: number, forMs: number, job: (index: number) => Promise<T>): Promise<T[]> {
  const jobs: Promise<T>[] = [];
  const startedAt = performance.now();
  for (let elapsed = 0; elapsed < forMs; elapsed = performance.now() - startedAt) {
    while (jobs.length < (elapsed / 1000) * perSecond) jobs.push(job(jobs.length));
    await pause(5);
  }
  return Promise.all(jobs);
}

/** Resolves after so long. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Asks until it works; how long that took, in milliseconds. Throws after half a minute. */
export async function untilHealthy(question: () => Promise<Answer>): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < 30_000) {
    if ((await question()).errors === undefined) return performance.now() - startedAt;
    await pause(20);
  }
  throw new Error('not healthy after half a minute');
}

/** The codes of an answer's errors. */
export function codesOf({ errors = [] }: Answer): unknown[] {
  return errors.map(({ extensions }) => extensions['code']);
}
