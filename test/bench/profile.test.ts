import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type HeapNode, heapByRoom } from '../../bench/profile/heap.ts';
import { roomOfTick } from '../../bench/profile/rooms.ts';
import { ticksOf } from '../../bench/profile/v8-log.ts';
import { type Costs, profilePageOf } from '../../bench/report/profile-page.ts';

const symbols: Readonly<Record<number, string>> = {
  0x7f0000001010: '__write@@GLIBC_2.2.5',
  0x7f0000002010: 'epoll_pwait@@GLIBC_2.6',
  0x500010: 'v8::internal::JsonParser<unsigned char>::ParseJsonObject(bool)',
  0x500410: 'uv__run_timers',
};
const log = readFileSync(new URL('profile-log.txt', import.meta.url), 'utf8');
const ticks = ticksOf(log, (_, address) => symbols[address]);

test.each([
  [1000, 'sockets: system calls', 'a call of the system on a socket'],
  [1250, 'log', 'a call of the system that the log makes'],
  [1500, undefined, 'waiting'],
  [1750, 'JSON', 'native code for JSON, for any caller'],
  [2000, 'promises, ticks and timers', 'code of V8 for promises, for any caller'],
  [2250, 'execution', 'a builtin and a helping package, charged to their caller'],
  [2500, 'HTTP client', "Node's Buffer, charged to its caller"],
  [2750, 'HTTP client', 'the parser of responses'],
  [3000, 'execution', 'generated code'],
  [3250, 'metrics', 'a count of an operation'],
  [3500, 'src/rest/transport', 'all else below src/, by its folder'],
  [3750, 'src/rest', 'a function that others are inlined in'],
  [4000, 'JSON', 'an inlined function of an inlined one'],
  [4250, 'gates', 'an inlined function'],
  [4500, 'src/rest', 'what follows an inlined function'],
  [4750, 'garbage collection', 'a garbage collection, for any caller'],
  [5000, "V8's compilers and inline caches", 'a compiler'],
  [5250, 'event loop, and what it calls outside JavaScript', 'native code below no function'],
  [5500, 'src/rest/cache', 'code that was moved'],
  [5750, 'event loop, and what it calls outside JavaScript', 'an address that nothing is known of'],
])('the sample at %i µs is of the room %s: %s', (time, room: string | undefined, _what) => {
  const tick = ticks.find((one) => one.time === time);
  if (tick === undefined) throw new Error('expected a sample');
  expect(roomOfTick(tick)).toBe(room);
});

test('what the heap holds is of the room of the innermost function that has one', () => {
  const node = (functionName: string, url: string, selfSize: number, ...children: HeapNode[]): HeapNode => ({
    callFrame: { functionName, url },
    selfSize,
    children,
  });
  const head = node(
    '(root)',
    '',
    5,
    node(
      'load',
      'file:///gateway/src/loaders/row-loader.ts',
      10,
      node('get', 'file:///gateway/node_modules/lru-cache/index.js', 20),
    ),
    node(
      'require',
      'node:internal/modules/cjs/loader',
      7,
      node('', 'file:///gateway/node_modules/yaml/dist/index.js', 40),
    ),
  );
  expect(Object.fromEntries(heapByRoom(head))).toEqual({
    loaders: 30,
    'modules that are loaded': 7,
    yaml: 40,
    'event loop, and what it calls outside JavaScript': 5,
  });
});

test('PROFILE.md shares the time of the main thread out, and sums up what is small', () => {
  const costs: Costs = {
    scenario: 'S1',
    main: 100,
    helpers: 12,
    samples: 4000,
    rooms: new Map([
      ['JSON', 60],
      ['src/http', 39.2],
      ['yaml', 0.5],
      ['log', 0.3],
    ]),
  };
  const machine = {
    date: '2026-01-01',
    commit: 'abc',
    processor: 'p',
    cores: 2,
    memoryGiB: 4,
    system: 's',
    node: '26.0.0',
    pinned: true,
    versions: {},
  };
  const page = profilePageOf(machine, [costs], undefined);
  expect(
    page
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .join('\n'),
  ).toMatchInlineSnapshot(`
    "|  | S1 |
    | --- | --: |
    | JSON | 60.0 (60 %) |
    | \`src/http\` | 39.2 (39 %) |
    | each less than 1 %: \`yaml\`, log | 0.8 (1 %) |
    | **main thread** | **100.0** |
    | helper threads: V8's compilers and collectors | 12.0 |"
  `);
});
