import type { ClientUsage } from './client-usage.ts';
import type { Instruments } from './instruments.ts';

/** Counts operations by client, and those that use deprecated fields or arguments. */
export function measureClients(instruments: Instruments, usage: ClientUsage): void {
  instruments.counter(
    'gateway_client_operations_total',
    'Operations by the name and version that their client gives itself, and by whether they were answered without errors.',
    ['client', 'version', 'result'],
    () => {
      const counts = Map.groupBy(usage.all().operations, ({ client, version }) => `${client}\n${version}`);
      return [...counts.values()].flatMap((rows) => {
        const [{ client, version } = { client: '', version: '' }] = rows;
        const errors = rows.reduce((sum, row) => sum + row.errors, 0);
        const all = rows.reduce((sum, { operations }) => sum + operations, 0);
        return [
          [{ client, version, result: 'ok' }, all - errors],
          [{ client, version, result: 'error' }, errors],
        ];
      });
    },
  );
  instruments.counter(
    'gateway_deprecated_uses_total',
    'Operations that used a deprecated field or argument, by its schema coordinate and the name of the client.',
    ['coordinate', 'client'],
    () => {
      const uses = Map.groupBy(usage.all().deprecated, ({ coordinate, client }) => `${coordinate}\n${client}`);
      return [...uses.values()].map((rows) => {
        const [{ coordinate, client } = { coordinate: '', client: '' }] = rows;
        return [{ coordinate, client }, rows.reduce((sum, { uses: count }) => sum + count, 0)];
      });
    },
  );
}
