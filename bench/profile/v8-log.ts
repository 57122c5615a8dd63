/** The log that V8 writes with `--prof`: what the main thread was doing, again and again. */

/** A function on the stack, or native code at its top. */
export interface Frame {
  readonly kind: 'js' | 'builtin' | 'native';
  /** The name of the function, or the symbol. */
  readonly name: string;
  /** The URL or path of its file; empty if it has none, as natives and generated code. */
  readonly file: string;
}

/** One look at the main thread. */
export interface Tick {
  /** Microseconds since V8 was started. */
  readonly time: number;
  /** The state of V8: 0 is JavaScript, 1 garbage collection, 2 to 4 compilers, the others something native. */
  readonly state: number;
  /** The stack, innermost first. */
  readonly frames: readonly Frame[];
}

/** Names the native code at an address of a file that the process has loaded. */
export type Symbolize = (file: string, address: number, base: number) => string | undefined;

/** A piece of machine code or bytecode. */
interface Code {
  start: number;
  readonly end: number;
  readonly frame: Frame;
  /** The functions that are inlined, by their offset in the code. */
  inlined?: Inlined;
}

interface Inlined {
  /** Offsets in the code, growing, each with the number of the inlined call that it is in; -1 for the function itself. */
  readonly offsets: readonly number[];
  readonly calls: readonly number[];
  /** Inlined calls: the function, and the call that it is in. */
  readonly functions: readonly { readonly frame: Frame | undefined; readonly parent: number }[];
}

interface Library {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Code lies in pages of this size, by which it is looked up. */
const pageSize = 4096;

/** Reads the ticks of a log. */
export function ticksOf(log: string, symbolize: Symbolize): Tick[] {
  const libraries: Library[] = [];
  const pages = new Map<number, Set<Code>>();
  const byStart = new Map<number, Code>();
  const byFunction = new Map<string, Frame>();
  const ticks: Tick[] = [];

  const forget = (code: Code): void => {
    for (const page of pagesOf(code)) pages.get(page)?.delete(code);
  };
  const place = (code: Code): void => {
    for (const page of pagesOf(code)) {
      const some = pages.get(page) ?? new Set();
      // Code is forgotten by what is put in its place.
      for (const other of some) if (other.start < code.end && code.start < other.end) some.delete(other);
      pages.set(page, some.add(code));
    }
    byStart.set(code.start, code);
  };
  const codeAt = (address: number): Code | undefined =>
    pages
      .get(Math.floor(address / pageSize))
      ?.values()
      .find(({ start, end }) => start <= address && address < end);
  /** The frames of an address: inlined functions first. */
  const framesAt = (address: number): readonly Frame[] => {
    const code = codeAt(address);
    if (code !== undefined) return [...inlinedAt(code, address - code.start), code.frame];
    const library = libraries.find(({ start, end }) => start <= address && address < end);
    if (library === undefined) return [];
    const name = symbolize(library.file, address, library.start) ?? library.file;
    return [
      name.startsWith('Builtins_')
        ? { kind: 'builtin', name: name.slice(9), file: '' }
        : { kind: 'native', name, file: '' },
    ];
  };

  for (const line of log.split('\n')) {
    const [kind = '', ...fields] = line.split(',');
    const at = (index: number): string => fields[index] ?? '';
    if (kind === 'shared-library') libraries.push({ file: at(0), start: Number(at(1)), end: Number(at(2)) });
    else if (kind === 'code-creation') {
      const start = Number(at(3));
      const frame = frameOf(at(0), unescaped(at(5)));
      place({ start, end: start + Number(at(4)), frame });
      if (at(6) !== '') byFunction.set(at(6), frame);
    } else if (kind === 'code-move') {
      const code = byStart.get(Number(at(0)));
      const start = Number(at(1));
      if (code !== undefined) {
        forget(code);
        place({ ...code, start, end: start + code.end - code.start });
      }
    } else if (kind === 'code-source-info') {
      const code = byStart.get(Number(at(0)));
      if (code !== undefined && at(6) !== '') code.inlined = inlinedOf(at(4), at(5), at(6), byFunction);
    } else if (kind === 'tick') {
      const [pc, time, , , state, ...stack] = fields;
      const addresses = addressesOf(Number(pc), stack);
      ticks.push({ time: Number(time), state: Number(state), frames: addresses.flatMap(framesAt) });
    }
  }
  return ticks;
}

function pagesOf({ start, end }: Code): number[] {
  const first = Math.floor(start / pageSize);
  return Array.from({ length: Math.ceil(end / pageSize) - first }, (_, index) => first + index);
}

/** A stack is written as differences from the address before. */
function addressesOf(pc: number, stack: readonly string[]): number[] {
  const addresses = [pc];
  let last = pc;
  for (const text of stack) {
    if (text.startsWith('o')) continue;
    const isRelative = text.startsWith('+') || text.startsWith('-');
    const value = Number(isRelative ? text.slice(1) : text);
    last = isRelative ? last + (text.startsWith('-') ? -value : value) : value;
    addresses.push(last);
  }
  return addresses;
}

function frameOf(type: string, text: string): Frame {
  if (type === 'Builtin' || type === 'BytecodeHandler' || type === 'Stub')
    return { kind: 'builtin', name: text, file: '' };
  if (type === 'RegExp') return { kind: 'builtin', name: `RegExp: ${text}`, file: '' };
  const [, name = '', file = ''] = /^(.*?) ?((?:file:|node:|\/|evalmachine).*)?:\d+:\d+$/.exec(text) ?? ['', text];
  return { kind: 'js', name: name || '(anonymous)', file };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|n|\\)/gi, (_, short?: string, long?: string) =>
    String.fromCodePoint(Number.parseInt(short ?? long ?? '20', 16)),
  );
}

/** Positions are written as `C<offset>O<source>I<call>`, calls as `F<function>O<source>I<parent>`, functions as `S<address>`. */
function inlinedOf(positions: string, calls: string, functions: string, known: ReadonlyMap<string, Frame>): Inlined {
  const places = [...positions.matchAll(/C(\d+)O\d+(?:I(\d+))?/g)];
  const names = functions.split('S').slice(1);
  return {
    offsets: places.map(([, offset]) => Number(offset)),
    calls: places.map(([, , call]) => Number(call ?? -1)),
    functions: [...calls.matchAll(/F(\d+)O\d+(?:I(\d+))?/g)].map(([, index, parent]) => ({
      frame: known.get(names[Number(index)] ?? ''),
      parent: Number(parent ?? -1),
    })),
  };
}

function inlinedAt({ inlined }: Code, offset: number): Frame[] {
  if (inlined === undefined) return [];
  const after = inlined.offsets.findIndex((start) => start > offset);
  const frames: Frame[] = [];
  for (let call = inlined.calls.at(after === -1 ? -1 : Math.max(after - 1, 0)) ?? -1; call >= 0; ) {
    const inner = inlined.functions[call];
    if (inner?.frame !== undefined) frames.push(inner.frame);
    // A caller stands before what is inlined in it. A line that two threads wrote at once may say otherwise.
    call = Math.min(inner?.parent ?? -1, call - 1);
  }
  return frames;
}
