import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runMain } from '../support/process.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('the commands of the README print what stands there', async () => {
  const blocks = [...readme.matchAll(/```console\n\$ node src\/main\.ts ([^\n]+)\n([\s\S]*?)```/g)];
  for (const [, command = '', output] of blocks) {
    await using running = runMain(command.split(' '));
    await running.exit();
    expect(running.output()).toBe(output);
  }
});
