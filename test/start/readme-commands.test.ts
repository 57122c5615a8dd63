import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runMain } from '../support/process.ts';

test.each(['README.md', 'examples/web/README.md'])('the commands of %s print what stands there', async (file) => {
  const readme = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/```console\n\$ node src\/main\.ts ([^\n]+)\n([\s\S]*?)```/g)];
  expect(blocks).not.toEqual([]);
  for (const [, command = '', output] of blocks) {
    await using running = runMain(command.split(' '));
    await running.exit();
    expect(running.output()).toBe(output);
  }
});
