/** CPU time and memory of processes, as Linux tells them in /proc. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const microsecondsPerTick = 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of a process and its descendants so far, those that ended included, in microseconds. */
export function cpuTimeOf(pid: number): number {
  const fields = treeOf(pid).map((id) => statOf(id) ?? []);
  // utime, stime, cutime and cstime are the fields 14 to 17 of proc(5); `statOf` begins with the third.
  const ticks = fields.flatMap((stat) => stat.slice(11, 15).map(Number));
  return ticks.reduce((sum, value) => sum + value, 0) * microsecondsPerTick;
}

/**
 * CPU time of the threads that a process has now, in microseconds. It is exact to the nanosecond, where `cpuTimeOf` counts
 * in ticks of 10 ms, but it knows neither descendants nor threads that have ended.
 */
export function threadTimeOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + timeOfThread(pid, Number(thread)), 0);
}

/** CPU time of the thread of a process that runs its JavaScript, in microseconds. */
export function mainThreadTimeOf(pid: number): number {
  return timeOfThread(pid, pid);
}

function timeOfThread(pid: number, thread: number): number {
  return Number((readProc(`${pid}/task/${thread}/schedstat`) ?? '0').split(' ')[0]) / 1000;
}

/** The memory of a process and its descendants in mebibytes: what they hold now, or the most that each has held. */
export function memoryOf(pid: number, member: 'VmRSS' | 'VmHWM'): number {
  const pattern = new RegExp(`${member}:\\s+(\\d+)`);
  const sizes = treeOf(pid).map((id) => Number(pattern.exec(readProc(`${id}/status`) ?? '')?.[1] ?? 0));
  return sizes.reduce((sum, value) => sum + value, 0) / 1024;
}

/** CPU time of the whole machine so far, in microseconds. */
export function machineTime(): number {
  const [line = ''] = (readProc('stat') ?? '').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = line.split(/ +/).slice(1).map(Number);
  return (user + nice + system + irq + softIrq) * microsecondsPerTick;
}

function treeOf(root: number): number[] {
  const children = Map.groupBy(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
    (name) => Number(statOf(Number(name))?.[1] ?? 0),
  );
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []).map(Number));
  return tree;
}

/** The fields of /proc/PID/stat after the name of the process; undefined if the process is gone. */
function statOf(pid: number): string[] | undefined {
  const text = readProc(`${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return undefined;
  }
}
