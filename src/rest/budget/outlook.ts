import type { Surface } from '../operation-ids.ts';

/** One window of a log, as clients see it. */
export interface WindowStatus {
  readonly ms: number;
  readonly limit: number;
  /** Calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until `limit` calls may begin, if no call begins before. */
  readonly resetsInMs: number;
}

/** The windows of a surface, shortest first. */
export type Outlook = readonly WindowStatus[];

/** The windows of one key as one user meets them, for each surface that was asked about and has a budget. */
export type Outlooks = ReadonlyMap<Surface, Outlook>;

/** The windows that the logs of a call leave together. In each, the log that allows less decides. */
export function strictest([all = [], ...others]: readonly Outlook[]): Outlook {
  return all.map((window, index) => {
    const both = [window, ...others.flatMap((other) => other[index] ?? [])];
    return {
      ms: window.ms,
      limit: Math.min(...both.map(({ limit }) => limit)),
      remaining: Math.min(...both.map(({ remaining }) => remaining)),
      resetsInMs: Math.max(...both.map(({ resetsInMs }) => resetsInMs)),
    };
  });
}

/** The smallest share that is left in any window of the logs of a call, from 0 to 1. */
export function leftIn(outlooks: readonly Outlook[]): number {
  return Math.min(1, ...outlooks.flat().map(({ remaining, limit }) => remaining / limit));
}
