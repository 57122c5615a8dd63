/** PROFILE.md. */
import type { HeapRecord } from '../profile/heap.ts';
import type { ScenarioName } from '../scenarios/names.ts';
import type { Machine } from './machine.ts';
import { table } from './text.ts';

/** CPU time of one operation of a scenario, in microseconds. */
export interface Costs {
  readonly scenario: ScenarioName;
  /** On the thread that runs JavaScript. */
  readonly main: number;
  /** On the threads of V8's compilers and collectors, and of libuv. */
  readonly helpers: number;
  /** The number of samples behind `rooms`. */
  readonly samples: number;
  /** The parts of `main`. */
  readonly rooms: ReadonlyMap<string, number>;
}

/** The content of the heap, and the rooms that allocated it. */
interface Heap extends HeapRecord {
  readonly rooms: ReadonlyMap<string, number>;
}

/** The page that tells where time and memory go. */
export function profilePageOf(machine: Machine, costs: readonly Costs[], heap: Heap | undefined): string {
  const sections = [introduction(machine, costs), roomTable(costs)];
  if (heap !== undefined) sections.push(heapSection(heap));
  return `${sections.join('\n\n')}\n`;
}

function introduction(machine: Machine, costs: readonly Costs[]): string {
  const samples = costs.map((one) => one.samples);
  return `# Where the gateway's time and memory go

<!-- Written by bench/profile.ts. -->

Commit ${machine.commit}, measured on ${machine.date}, Node ${machine.node}: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB,
${machine.system}. \`npm run bench:profile\` repeats it.

## CPU time of an operation

Microseconds, and the share of the main thread's. The gateway is warm and runs as in [RESULTS.md](RESULTS.md)${machine.pinned ? ', on a core of its own' : ''}. CPU
times come from a process that nothing observes; a second one is sampled by V8 (\`--prof\`) and says how they are
shared out: ${Math.min(...samples).toLocaleString('en')} samples of each scenario or more. Native code belongs to the function that called it, but for
system calls on sockets, JSON, promises, compilers and garbage collection; so do Node's helpers, as \`Buffer\` and events. Functions that V8
has inlined are told apart. [profile/rooms.ts](profile/rooms.ts) says what belongs where.`;
}

/** Rooms that have less than this share in all scenarios are shown together. */
const least = 0.01;

function roomTable(costs: readonly Costs[]): string {
  const sum = (room: string): number => costs.reduce((all, { rooms, main }) => all + (rooms.get(room) ?? 0) / main, 0);
  const all = [...new Set(costs.flatMap(({ rooms }) => [...rooms.keys()]))].toSorted(
    (one, other) => sum(other) - sum(one),
  );
  const isLarge = (room: string): boolean => costs.some(({ rooms, main }) => (rooms.get(room) ?? 0) / main >= least);
  const small = all.filter((room) => !isLarge(room));
  const cell = ({ rooms, main }: Costs, some: readonly string[]): string => {
    const value = some.reduce((part, room) => part + (rooms.get(room) ?? 0), 0);
    return `${value.toFixed(1)} (${((value / main) * 100).toFixed(0)} %)`;
  };
  const row = (title: string, some: readonly string[]): string[] => [title, ...costs.map((one) => cell(one, some))];
  return table(
    ['', ...costs.map(({ scenario }) => scenario)],
    [
      ...all.filter(isLarge).map((room) => row(titleOf(room), [room])),
      row(`each less than ${least * 100} %: ${small.map(titleOf).join(', ')}`, small),
      ['**main thread**', ...costs.map(({ main }) => `**${main.toFixed(1)}**`)],
      ["helper threads: V8's compilers and collectors", ...costs.map(({ helpers }) => helpers.toFixed(1))],
    ],
  );
}

function heapSection({ rooms, spaces, code, memory }: Heap): string {
  const sum = rooms.values().reduce((all, value) => all + value, 0);
  const large = [...rooms].toSorted(([, one], [, other]) => other - one).filter(([, value]) => value >= sum * least);
  const rest = sum - large.reduce((all, [, value]) => all + value, 0);
  const parts = spaces.filter(({ space_used_size: used }) => used > 2 ** 18);
  return `## What the heap holds

MiB after S1 to S6 and a full collection, by who allocated them: a sample every 8 KiB since the start of the process.

${table(
  ['', 'MiB'],
  [
    ...large.map(([room, value]) => [titleOf(room), mebibytes(value)]),
    ['the rest', mebibytes(rest)],
    ['**sampled**', `**${mebibytes(sum)}**`],
  ],
)}

The same heap by its spaces, and what lies outside of it:

${table(
  ['', 'used, MiB', 'in memory, MiB'],
  [
    ...parts.map(({ space_name: name, space_used_size: used, physical_space_size: size }) => [
      name,
      mebibytes(used),
      mebibytes(size),
    ]),
    ['bytecode, in the spaces above', mebibytes(code.bytecode_and_metadata_size), ''],
    ['texts of scripts, outside', mebibytes(code.external_script_source_size), ''],
    ['buffers, outside', mebibytes(memory.arrayBuffers), ''],
    ['**the whole process**', '', `**${mebibytes(memory.rss)}**`],
  ],
)}`;
}

function titleOf(room: string): string {
  return /^(src\/|@|[\w-]+$)/.test(room) && !/^(JSON|execution|loaders|gates|log|metrics)$/.test(room)
    ? `\`${room}\``
    : room;
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
