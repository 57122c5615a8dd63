/**
 * Installs the packages of folders that have a lock of their own, unless they are up to date. Only `npm run check` and
 * `npm test` need them.
 *
 *   node tools/install.ts FOLDER…
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

// Together: npm mostly waits for the registry and the disk.
const installed = await Promise.all(
  process.argv.slice(2).map(async (folder) => {
    const path = join(root, folder);
    // npm writes this file last.
    if (changedAt(join(path, 'node_modules/.package-lock.json')) >= changedAt(join(path, 'package-lock.json')))
      return true;
    console.log(`npm ci in ${folder}`);
    const npm = spawn('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: 'inherit' });
    await once(npm, 'exit');
    return npm.exitCode === 0;
  }),
);
if (installed.includes(false)) process.exitCode = 1;

/** The time at which a file was last written, in milliseconds; 0 if there is no file. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
