import { expect, test } from 'vitest';
import { ask } from '../support/gateway.ts';
import { pause, together } from '../support/load.ts';
import { runMain } from '../support/process.ts';

test.each(['1', '2'])(
  'with WORKERS=%s a slow reader of the log misses no line, and no line is cut',
  async (workers) => {
    await using gateway = runMain([], { PORT: '0', WORKSPACE_PORT: '0', WORKERS: workers, STOP_DELAY_MS: '0' });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    await gateway.printed(/^curl/m);
    gateway.child.stdout?.pause();
    // More than a pipe holds.
    await together(2000, 50, () => ask(url, 'query WithARatherLongName { __typename }'));
    gateway.child.kill('SIGTERM');
    await pause(200);
    gateway.child.stdout?.resume();
    expect(await gateway.exit()).toBe(0);
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"operation"'));
    expect(lines.map((line): unknown => JSON.parse(line))).toHaveLength(2000);
  },
);
