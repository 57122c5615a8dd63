import type { Reloads } from '../follow-files.ts';
import type { Instruments } from './instruments.ts';
import type { Measured } from './metrics.ts';

/** The kinds of files and keys that are read again while the gateway runs. */
export type Reloadable = 'certificates' | 'documents' | 'keys' | 'tenants';

const name = 'gateway_reloads_total';
const help = 'Attempts to read again what changes while the gateway runs, by what it is and what became of it.';

/** Counts attempts to read things again. */
export function measureReloads(instruments: Instruments, all: ReadonlyMap<Reloadable, Readonly<Reloads>>): void {
  instruments.counter(name, help, ['what', 'result'], () =>
    [...all].flatMap(([what, { ok, failed }]): [Record<'what' | 'result', string>, number][] => [
      [{ what, result: 'ok' }, ok],
      [{ what, result: 'failed' }, failed],
    ]),
  );
}

/** The same metrics of one thing as data, for a process without metrics of its own. */
export function reloadsMeasured(what: Reloadable, { ok, failed }: Readonly<Reloads>): Measured {
  const values = [
    { value: ok, labels: { what, result: 'ok' } },
    { value: failed, labels: { what, result: 'failed' } },
  ];
  return { name, help, type: 'counter', aggregator: 'sum', values };
}
