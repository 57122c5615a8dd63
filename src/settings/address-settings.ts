import { type Environment, given, required, text, whole } from './settings.ts';

/** Where the gateway listens. */
export const addressSettings = {
  PORT: whole('Port of the gateway; 0 takes a free one', '4000', 0, 65_535),
  METRICS_PORT: whole('Port of `/metrics`; unset: that of the gateway', undefined, 1, 65_535),
  HOST: text('Address that the gateway listens on', '127.0.0.1', 'an address or a name of this machine'),
} as const;

/** Where the gateway listens; without a port of their own metrics are on that of the gateway. */
interface Addresses {
  readonly port: number;
  readonly host: string;
  readonly metricsPort: number | undefined;
}

/** Reads where the gateway listens. */
export function readAddresses(environment: Environment): Addresses {
  // Kubernetes tells containers of a service called `metrics` by a variable of this name.
  const isServiceLink = environment['METRICS_PORT']?.startsWith('tcp://') === true;
  return {
    port: required(environment, 'PORT', addressSettings.PORT),
    host: required(environment, 'HOST', addressSettings.HOST),
    metricsPort: isServiceLink ? undefined : given(environment, 'METRICS_PORT', addressSettings.METRICS_PORT),
  };
}
