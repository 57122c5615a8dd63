/**
 * Installs packages that keep a lock of their own, if that has not been done since the lock changed: `npm run check`
 * and `npm test` need them, running the gateway does not.
 *
 *   node tools/install.ts FOLDER…
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

for (const folder of process.argv.slice(2)) {
  const path = join(root, folder);
  // npm writes it last.
  if (changedAt(join(path, 'node_modules/.package-lock.json')) >= changedAt(join(path, 'package-lock.json'))) continue;
  console.log(`npm ci in ${folder}`);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** When a file was last written, in milliseconds; 0 if there is none. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
