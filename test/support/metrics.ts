import type { Log } from '../../src/log.ts';
import type { TestGateway } from './gateway.ts';

/** The metrics of a gateway, as Prometheus reads them. */
export async function metricsOf({ url }: Pick<TestGateway, 'url'>): Promise<string> {
  return (await fetch(new URL('/metrics', url))).text();
}

/** A log that keeps the fields of each line about an operation. */
export function keepOperations(): { readonly lines: readonly object[]; readonly log: Log } {
  const lines: object[] = [];
  const log: Log = (_level, message, fields = {}) => {
    if (message === 'operation') lines.push(fields);
  };
  return { lines, log };
}
