import { readFile } from 'node:fs/promises';
import { type Running, runMain } from './process.ts';

/** The memory of a process. */
export interface Memory {
  /** On its heap and beside it once all garbage is collected, in bytes. */
  readonly live: number;
  /** In all, in bytes. */
  readonly resident: number;
  /** Timers, sockets and the like that are at work. */
  readonly resources: number;
}

/** A gateway in a process of its own that can be asked for its memory. */
export interface Weighed extends Running {
  /** Collects garbage, then weighs what is left. */
  readonly weigh: () => Promise<Memory>;
}

/** Runs in the gateway's process before its own code. */
const scales = `
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let times = 0;
process.on('SIGUSR2', () => {
  for (let round = 0; round < 4; round += 1) collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  times += 1;
  const resources = process.getActiveResourcesInfo().length;
  process.stderr.write(['weighed', times + ':', heapUsed + external, rss, resources].join(' ') + '\\n');
});`;

/** Starts a gateway whose memory can be weighed. `nodeOptions` are those of Node's command line. */
export function runWeighed(
  environment: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Weighed {
  const importScales = `--import=data:text/javascript,${encodeURIComponent(scales)}`;
  const running = runMain([], { NODE_OPTIONS: [importScales, ...nodeOptions].join(' '), ...environment });
  let times = 0;
  return {
    ...running,
    weigh: async () => {
      times += 1;
      running.child.kill('SIGUSR2');
      const weighed = new RegExp(`^weighed ${times}: (\\d+) (\\d+) (\\d+)$`, 'm');
      const [, live = '', resident = '', resources = ''] = await running.printed(weighed);
      return { live: Number(live), resident: Number(resident), resources: Number(resources) };
    },
  };
}

/** The memory that a process holds in all, in bytes, with garbage that is not yet collected. */
export function residentMemory(running: Running): Promise<number> {
  return statusOf(running, /^VmRSS:\s+(\d+) kB$/m);
}

/** The most memory that a process has ever held in all, in bytes. */
export function peakMemory(running: Running): Promise<number> {
  return statusOf(running, /^VmHWM:\s+(\d+) kB$/m);
}

async function statusOf({ child }: Running, line: RegExp): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(line.exec(status)?.[1]) * 1024;
}
