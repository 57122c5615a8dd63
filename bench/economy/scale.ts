/**
 * The compression of the day. One number divides every length of time: the windows of the limits, the lifetimes of
 * answers, the time between polls, the latency of the service, and the deadline of operations.
 */

/** The seconds of the day that pass in a second. */
export const speed = 20;

/** The calls/seconds that the service allows one key: the rates of the known deployment. */
const rates = {
  rest: [
    [480, 60],
    [4800, 3600],
  ],
  events: [
    [240, 60],
    [1200, 3600],
  ],
  values: [
    [60, 60],
    [300, 3600],
  ],
} as const;

/** The lifetimes of cached answers, in seconds of the day. All are whole seconds when compressed. */
export const lifetimes = { projects: 60, dashboards: 60, plugins: 300, events: 40 } as const;

/** For how long old answers are given while newer ones are read, in seconds of the day. */
export const staleSeconds = 600;

/** The time that the service takes for an answer, in milliseconds of the day. */
export const latencyMs = 100;

/** The longest time that an operation may take, in milliseconds of the day: the gateway's default. */
export const deadlineMs = 8000;

/** The rates as settings of the gateway and of the embedded workspace, compressed. */
export const compressedRates = Object.entries(rates)
  .map(([surface, windows]) => `${surface}=${windows.map(([calls, seconds]) => `${calls}/${seconds / speed}`).join()}`)
  .join(' ');

/** The lifetimes as a setting of the gateway, compressed. */
export const compressedLifetimes = Object.entries(lifetimes)
  .map(([noun, seconds]) => `${noun}=${seconds / speed}`)
  .join(' ');

/** Real milliseconds for milliseconds of the day. */
export function compressed(milliseconds: number): number {
  return milliseconds / speed;
}

/** Minutes of the day in real milliseconds. */
export function minutes(count: number): number {
  return compressed(count * 60_000);
}

/** Real milliseconds as seconds of the day. */
export function daySeconds(milliseconds: number): number {
  return (milliseconds * speed) / 1000;
}
