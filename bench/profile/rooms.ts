/** Which part of the gateway, of Node or of a package a stack belongs to. */
import type { Frame, Tick } from './v8-log.ts';

/** The rooms that have names; each folder of src/ and each package that is in none of them is a room of its own. */
const rooms = {
  calls: 'sockets: system calls',
  sockets: "Node's sockets and streams",
  http: "Node's HTTP server",
  client: 'HTTP client',
  json: 'JSON',
  promises: 'promises, ticks and timers',
  execution: 'execution',
  loaders: 'loaders',
  gates: 'gates',
  log: 'log',
  metrics: 'metrics',
  garbage: 'garbage collection',
  compilers: "V8's compilers and inline caches",
  modules: 'modules that are loaded',
  node: 'the rest of Node',
  loop: 'event loop, and what it calls outside JavaScript',
} as const;

/** Patterns of paths below src/, and the room of what matches; all else has its folder as its room. */
const ownRooms: readonly (readonly [RegExp, string])[] = [
  [/^loaders\//, rooms.loaders],
  [
    /^rest\/(resilience|budget)\/|^rest\/(fair-queue|single-flight|operation-deadline)\.ts|^server\/client-connections\.ts/,
    rooms.gates,
  ],
  [/^operation\/(cost|cost-limits|rate-limits)\.ts/, rooms.gates],
  [/^(telemetry\/)?log\.ts/, rooms.log],
  [/^telemetry\/(?!tracing\/)/, rooms.metrics],
  [/^rest\/(json|transport\/json-weight)\.ts|^operation\/answer-bytes\.ts/, rooms.json],
  [/^event-loop-yield\.ts/, rooms.promises],
  [/^rest\/transport\/(transport|upstream-connection|connect|response-parser|chunks)\.ts/, rooms.client],
];

/** The rooms of packages; the others are rooms of their own. */
const packageRooms: Readonly<Record<string, string>> = {
  graphql: rooms.execution,
  'graphql-jit': rooms.execution,
  pino: rooms.log,
  'sonic-boom': rooms.log,
  'prom-client': rooms.metrics,
};

/** Files of Node and packages that work for those who call them. */
const helpers =
  /^node:(buffer|util|events|url|querystring|crypto|async_hooks|assert|internal\/(?!http|streams|stream_base|net|process\/task_queues|timers|async_local|js_stream|deps|modules|vm))|node_modules\/(lru-cache|safe-stable-stringify|quick-format-unescaped)\//;

const nodeRooms: readonly (readonly [RegExp, string])[] = [
  [/^node:internal\/(modules|deps\/(cjs-module-lexer|amaro)|vm)/, rooms.modules],
  [/^node:(_http_|http|internal\/http)/, rooms.http],
  [/^node:(net|stream|_stream|internal\/(stream|net|js_stream))/, rooms.sockets],
  [/^node:(timers|internal\/(process\/task_queues|timers|async_))/, rooms.promises],
];

/** Native code that has a room of its own, for any caller. */
const nativeRooms: readonly (readonly [RegExp, string])[] = [
  [/Builtin_Json|^Json(Parse|Stringify)|\bJson(Parser|Stringifier)|FastJson/, rooms.json],
  [
    /^v8::internal::(compiler|maglev|interpreter|baseline|turboshaft|wasm::WasmEngine|IC::|LoadIC|StoreIC|KeyedLoadIC|KeyedStoreIC|Runtime_(Load|Store|Keyed).*IC)/,
    rooms.compilers,
  ],
  [/^v8::internal::(Heap|Scavenge|MarkCompact|Sweeper|NewSpace|PagedSpace|LocalHeap)/, rooms.garbage],
  [/^(node::.*Parser|llhttp)/, rooms.http],
];

/** Builtins that serve promises. */
const promiseBuiltins = /Promise|Microtask|^Async(Function|Generator|FromSync|Iterator)|^Await/;

/** Calls of the system, as the C library names them. */
const systemCalls =
  /^_*(GI_)?_*(libc_)?(write|writev|read|readv|send|sendmsg|sendto|recv|recvmsg|recvfrom|connect|accept4?|socket|shutdown|close|setsockopt|getsockname|getpeername|epoll_ctl)(_nocancel)?(@.*)?$/;

/** Native code in which the process waits. */
const waiting = /epoll_p?wait|^_*(GI_)?_*poll(@|$)/;

/** The room of a tick; undefined if the process had nothing to do. */
export function roomOfTick({ state, frames }: Tick): string | undefined {
  if (state === 1) return rooms.garbage;
  if (state >= 2 && state <= 4) return rooms.compilers;
  const [leaf] = frames;
  if (leaf?.kind === 'native' && waiting.test(leaf.name)) return undefined;
  const room = roomOfFrames(frames);
  const isOnSockets = room === rooms.sockets || room === rooms.http || room === rooms.client || room === rooms.loop;
  return leaf?.kind === 'native' && systemCalls.test(leaf.name) && isOnSockets ? rooms.calls : room;
}

/** The room of a stack, innermost frame first: that of the first frame that has one. */
export function roomOfFrames(frames: readonly Frame[]): string {
  let isNodes = false;
  for (const frame of frames) {
    const room = roomOfFrame(frame);
    if (room !== undefined) return room;
    isNodes ||= frame.file.startsWith('node:');
  }
  return isNodes ? rooms.node : rooms.loop;
}

function roomOfFrame({ kind, name, file }: Frame): string | undefined {
  if (kind === 'builtin') {
    if (promiseBuiltins.test(name)) return rooms.promises;
    return matching(nativeRooms, name);
  }
  if (kind === 'native') return matching(nativeRooms, name);
  if (file === '') return rooms.execution;
  if (helpers.test(file)) return undefined;
  const named = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1];
  if (named !== undefined) return packageRooms[named] ?? named;
  const own = /\/src\/(.*)$/.exec(file)?.[1];
  if (own !== undefined) return matching(ownRooms, own) ?? `src/${folderOf(own)}`;
  return matching(nodeRooms, file) ?? (file.startsWith('node:') ? rooms.node : file);
}

function matching(table: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1];
}

/** The folder of a file below src/; the two nearest in src/rest, which is large. */
function folderOf(path: string): string {
  const parts = path.split('/').slice(0, -1);
  return parts.slice(0, parts[0] === 'rest' ? 2 : 1).join('/');
}
