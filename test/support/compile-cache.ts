import { existsSync } from 'node:fs';
import { compileCache, runMain } from './process.ts';

/** Fills the cache before the first test of a clone: a gateway writes it at an ordinary exit, and most tests kill theirs. */
export async function setup(): Promise<void> {
  if (existsSync(compileCache)) return;
  await using gateway = runMain([], { PORT: '0', WORKSPACE_PORT: '0', STOP_DELAY_MS: '0' });
  await gateway.printed(/^curl /m);
  gateway.child.kill('SIGTERM');
  await gateway.exit();
}
