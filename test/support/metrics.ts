import type { Log } from '../../src/log.ts';
import type { TestGateway } from './gateway.ts';

/** The metrics of a gateway, as Prometheus is given them. */
export async function metricsOf({ url }: Pick<TestGateway, 'url'>): Promise<string> {
  return (await fetch(new URL('/metrics', url))).text();
}

/** A log, and what its line of each operation says. */
export function keepOperations(): { readonly lines: readonly object[]; readonly log: Log } {
  const lines: object[] = [];
  const log: Log = (_level, message, fields = {}) => {
    if (message === 'operation') lines.push(fields);
  };
  return { lines, log };
}
