import { Worker } from 'node:worker_threads';

/** Asks a URL over and over, until it cannot be reached any more. */
export interface Prober extends AsyncDisposable {
  /** The duration of each answer so far, in milliseconds. */
  readonly tookMs: readonly number[];
}

/** Runs beside the test's own thread, which may be busy itself. */
const code = `
const { parentPort, workerData } = require('node:worker_threads');
(async () => {
  for (;;) {
    const startedAt = performance.now();
    await (await fetch(workerData)).text();
    parentPort.postMessage(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})();`;

/** Starts to ask; resolves with the first answer, and rejects if there is none. */
export async function startProber(url: URL): Promise<Prober> {
  const worker = new Worker(code, { eval: true, workerData: url.href });
  const tookMs: number[] = [];
  await new Promise<void>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (milliseconds: number) => {
      tookMs.push(milliseconds);
      resolve();
    });
  });
  return {
    tookMs,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
