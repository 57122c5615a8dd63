import { optional, type SettingsReader } from './reader.ts';
import type { Environment } from './settings.ts';
import { collectorUrl } from './urls.ts';

/** OpenTelemetry's own variables that name a collector. Its SDK prints a wrong URL in full, and uses another host. */
const endpoints = ['', 'TRACES_', 'METRICS_', 'LOGS_'].map((signal) =>
  optional(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`, collectorUrl('Where spans are sent')),
);

/** True if traces are asked for. Notes what is wrong with the URLs of their collector. */
export function readTraces(reader: SettingsReader): boolean {
  const { environment } = reader;
  if (!asksForTraces(environment)) return false;
  // Over gRPC a host without a scheme is an endpoint, too.
  const overHttp = endpoints.filter(({ name }) => !protocolOf(name, environment).startsWith('grpc'));
  for (const endpoint of overHttp) reader.read(endpoint);
  return true;
}

function protocolOf(endpoint: string, environment: Environment): string {
  return environment[endpoint.replace('ENDPOINT', 'PROTOCOL')] ?? environment['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? '';
}

/**
 * True if OpenTelemetry's own variables ask for traces. Its SDK sends traces by default. The gateway does so only if
 * the destination is set, or a configuration file that names it.
 */
function asksForTraces(environment: Environment): boolean {
  const value = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';
  if (value('OTEL_SDK_DISABLED') === 'true') return false;
  if (value('OTEL_CONFIG_FILE') !== '') return true;
  const exporter = value('OTEL_TRACES_EXPORTER');
  if (exporter !== '') return exporter !== 'none';
  return value('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '';
}
