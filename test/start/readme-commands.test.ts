import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runScript } from '../support/process.ts';

const root = new URL('../../', import.meta.url);

test.each(['README.md', 'examples/web/README.md'])('the commands of %s print what stands there', async (file) => {
  const readme = readFileSync(new URL(file, root), 'utf8');
  const blocks = [...readme.matchAll(/```console\n\$ npm run -s (\S+) -- ([^\n]+)\n([\s\S]*?)```/g)];
  expect(blocks).not.toEqual([]);
  for (const [, script = '', files = '', output] of blocks) {
    await using running = runScript('.', script, {}, files.split(' '));
    await running.exit();
    expect(running.output()).toBe(output);
  }
});

test('no command of a README needs another Node than the one that npm ci installs', () => {
  const files = globSync('{.,bench,examples/*}/README.md', { cwd: root });
  const commands = files.flatMap((file) => {
    const blocks = [...readFileSync(new URL(file, root), 'utf8').matchAll(/```(?:sh|console)\n([\s\S]*?)```/g)];
    return blocks.flatMap(([, text = '']) => text.split('\n').map((line) => line.replace(/^\$ /, '')));
  });
  expect(commands).toContain('npm ci && npm start');
  expect(commands.filter((command) => /(?:^|&& )node /.test(command))).toEqual([]);
});
