import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('what the code generators of the clients write is what is committed', { timeout: 60_000 }, async () => {
  const generated = promisify(execFile)(process.execPath, ['generate.ts', '--check'], { cwd: import.meta.dirname });
  await expect(generated).resolves.toEqual({ stdout: '', stderr: '' });
});
