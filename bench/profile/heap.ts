/** The content of a gateway's heap, by room. */
import { roomOfFrames } from './rooms.ts';
import type { Frame } from './v8-log.ts';

/** A function of a sampled heap, with the bytes that it allocated and that are still held. */
export interface HeapNode {
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

/** The file that `record-heap.ts` writes. */
export interface HeapRecord {
  readonly head: HeapNode;
  readonly spaces: readonly {
    readonly space_name: string;
    readonly space_used_size: number;
    readonly physical_space_size: number;
  }[];
  readonly code: { readonly bytecode_and_metadata_size: number; readonly external_script_source_size: number };
  readonly memory: {
    readonly rss: number;
    readonly heapUsed: number;
    readonly external: number;
    readonly arrayBuffers: number;
  };
}

/** Bytes by room: of who allocated them. */
export function heapByRoom(head: HeapNode): Map<string, number> {
  const sums = new Map<string, number>();
  const walk = ({ callFrame, selfSize, children }: HeapNode, callers: readonly Frame[]): void => {
    const frame = frameOf(callFrame);
    const frames = frame === undefined ? callers : [frame, ...callers];
    if (selfSize > 0) {
      const room = roomOfFrames(frames);
      sums.set(room, (sums.get(room) ?? 0) + selfSize);
    }
    for (const child of children) walk(child, frames);
  };
  walk(head, []);
  return sums;
}

/** The names in brackets are V8's own, such as `(root)` and `(EXTERNAL)`. */
function frameOf({ functionName, url }: HeapNode['callFrame']): Frame | undefined {
  if (url === '' && /^\(.*\)$/.test(functionName)) return undefined;
  return { kind: 'js', name: functionName || '(anonymous)', file: url };
}
