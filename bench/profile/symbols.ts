/** The names of native code, as `nm` of the binutils tells them. */
import { spawnSync } from 'node:child_process';
import type { Symbolize } from './v8-log.ts';

interface Symbols {
  /** True if addresses of the file are those of the process, as of a program that is not relocated. */
  readonly isFixed: boolean;
  readonly addresses: Float64Array;
  readonly names: readonly string[];
}

/** Reads the symbols of each file when it is first asked for one. */
export function createSymbolize(): Symbolize {
  const files = new Map<string, Symbols>();
  return (file, address, base) => {
    const symbols = files.get(file) ?? readSymbols(file);
    files.set(file, symbols);
    const wanted = symbols.isFixed ? address : address - base;
    return symbols.names[lastUpTo(symbols.addresses, wanted)];
  };
}

/** The index of the last of growing numbers that is no larger than one; -1 if there is none. */
function lastUpTo(numbers: Float64Array, most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? Infinity) <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function readSymbols(file: string): Symbols {
  const read = (...options: string[]): string[][] => {
    const { stdout, error } = spawnSync('nm', ['-C', '-n', ...options, file], { encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (error) throw new Error('nm cannot be run; it is part of the binutils', { cause: error });
    return [...stdout.matchAll(/^([0-9a-f]+) [tTwWiuV] (.+)$/gm)].map(([, at = '', name = '']) => [at, name]);
  };
  const all = [...read(), ...read('-D')].map(([at = '', name = '']) => ({ at: Number.parseInt(at, 16), name }));
  const sorted = all.toSorted((one, other) => one.at - other.at);
  return {
    isFixed: (sorted[0]?.at ?? 0) >= 0x40_0000,
    addresses: Float64Array.from(sorted, ({ at }) => at),
    names: sorted.map(({ name }) => name),
  };
}
