import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/** The time between the start of a server and the first optimization, in milliseconds. */
const settlingMs = 1000;

/**
 * Lets V8 optimize functions from now on, which `v8.js` forbids during the start. Code that has been compiled by now is
 * written to the cache first, because V8 refuses cached code that was compiled under other flags. After an installation
 * or an update, this blocks the event loop for a tenth of a second once. Later starts have hardly anything to write.
 */
export function allowOptimization(): void {
  flushCompileCache();
  setFlagsFromString('--opt');
}

/** Lets V8 optimize functions soon. The first operations of a server run while other code is still loaded and compiled. */
export function allowOptimizationSoon(): void {
  setTimeout(allowOptimization, settlingMs).unref();
}
