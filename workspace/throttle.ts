import { ApiError } from './errors.ts';

/** The groups of operations that the deployment limits apart from each other, for each key. */
export type Surface = 'events' | 'values' | 'rest';

/** Most requests of a key in any span of so many milliseconds. */
export interface Rate {
  readonly limit: number;
  readonly ms: number;
}

/** The rates of each surface; one that is left out has none. */
export type Rates = Readonly<Partial<Record<Surface, readonly Rate[]>>>;

/** Counts a request of `key`, and throws for those beyond a rate: 429, which does not count. */
export type Throttle = (key: string, surface: Surface) => void;

/** The surface that an operation belongs to, by the template of its path. */
export function surfaceOf(path: string): Surface {
  if (path.endsWith('/events/values/')) return 'values';
  return path.startsWith('/api/projects/{project_id}/events/') ? 'events' : 'rest';
}

/** Keeps a log of requests for each key and surface, and slides over it, as the deployment does. */
export function createThrottle(rates: Rates, now: () => number = Date.now): Throttle {
  const logs = new Map<string, number[]>();
  return (key, surface) => {
    const all = rates[surface];
    if (all === undefined) return;
    const name = `${surface} ${key}`;
    const log = logs.get(name) ?? [];
    logs.set(name, log);
    const at = now();
    const longest = Math.max(...all.map(({ ms }) => ms));
    const past = log.findIndex((time) => time > at - longest);
    log.splice(0, past === -1 ? log.length : past);
    const waits = all.map((rate) => waitFor(rate, log, at));
    const waitMs = Math.max(...waits);
    if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000));
    log.push(at);
  };
}

/** Milliseconds until one more request fits; 0 if it does now. */
function waitFor({ limit, ms }: Rate, log: readonly number[], at: number): number {
  // The request that has to be out of the span for that.
  const blocking = log.at(-limit);
  return log.length < limit || blocking === undefined ? 0 : Math.max(0, blocking + ms - at);
}

function throttled(seconds: number): ApiError {
  return new ApiError(429, 'throttled', `Request was throttled. Expected available in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
