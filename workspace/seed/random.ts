import { hash } from 'node:crypto';

/** Numbers from 0 up to 1 that look random and are the same on every start: the generator mulberry32. */
export type Random = () => number;

/** Starts a series; equal seeds give equal series. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of `choices`. */
export function choose<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}

/** `series[index]`, starting anew behind the last. */
export function cycle<T>(series: readonly [T, ...T[]], index: number): T {
  return series[index % series.length] ?? series[0];
}

/** A UUID that is always the same for the same name. */
export function uuidOf(name: string): string {
  const hex = hash('sha256', name);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
