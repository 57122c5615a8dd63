import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const paired = (...args: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, ['bench/paired.ts', ...args]);

test('two commits are measured in turn, and their working folder is removed', async () => {
  const short = ['--scenarios', 'S1,S6', '--pairs', '1', '--bursts', '2', '--seconds', '0.05', '--warm', '0.1'];
  const { stdout } = await paired('HEAD', ...short);
  const rows = stdout.split('\n').filter((line) => /'S[16]'/.test(line));
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(row).toMatch(/'\d+\.\d' *│ *'\d+\.\d' *│ *'\d\.\d{3}' *│ *'± \d\.\d{3}'/);
  const { stdout: worktrees } = await promisify(execFile)('git', ['worktree', 'list']);
  expect(worktrees).not.toContain('paired-');
}, 120_000);

test('a scenario that bench/ does not have is named', async () => {
  await expect(paired('HEAD', '--scenarios', 'S1,S9')).rejects.toThrow('expected scenarios of bench/ but got S1,S9');
});
