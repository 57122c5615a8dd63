import { setTimeout as delay } from 'node:timers/promises';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { startNodeSdk } from '@opentelemetry/sdk-node';
import { type Log, LogThrottle } from '../../log.ts';
import type { Tracing } from '../../operation/operation-run.ts';
import { isObject, jsonIn } from '../../rest/values.ts';
import { createTracing } from './spans.ts';

type Environment = Record<string, string | undefined>;

/** The longest time for sending the last spans, in milliseconds: a collector must not delay the exit. */
const stopMs = 3000;

/**
 * The longest time for sending spans, including further attempts, in milliseconds, unless the environment sets it.
 * OpenTelemetry's default is 10 s, after the 5 s in which spans are gathered. The log would then report too late that a
 * collector is down.
 */
const sendMs = 5000;
const sendVariable = 'OTEL_EXPORTER_OTLP_TIMEOUT';

/** The name of the service, unless the environment sets it. */
const serviceName = 'workspace-graphql-gateway';

/**
 * Starts OpenTelemetry's SDK, which reads its standard `OTEL_*` variables itself. By default it would also export
 * metrics and logs; here it exports them only if their variables ask for it.
 */
export function startTracing(
  environment: Environment,
  upstreamUrl: string,
  log: Log,
): { readonly tracing: Tracing; readonly stop: () => Promise<void> } {
  if (!isSet(environment[sendVariable])) environment[sendVariable] = String(sendMs);
  const sdk = startNodeSdk({
    ...(!isNamed(environment) && { resourceAttributes: { 'service.name': serviceName } }),
    ...(!isSet(environment['OTEL_METRICS_EXPORTER']) && { metricReaders: [] }),
    ...(!isSet(environment['OTEL_LOGS_EXPORTER']) && { logRecordProcessors: [] }),
  });
  const silent = (): void => undefined;
  const sdkLog = createSdkLog(log);
  diag.setLogger(
    {
      error: (message, ...more) => sdkLog('error', message, more),
      warn: (message, ...more) => sdkLog('warn', message, more),
      info: silent,
      debug: silent,
      verbose: silent,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return {
    tracing: createTracing(trace.getTracer(serviceName), upstreamUrl),
    stop: async () => {
      const shutdown = sdk.shutdown().catch((error: unknown) => sdkLog('error', String(error), []));
      await Promise.race([shutdown, delay(stopMs, undefined, { ref: false })]);
    },
  };
}

/**
 * Logs the complaints of the SDK. It complains of each failed export, but an outage of the collector is logged as one
 * line.
 */
function createSdkLog(log: Log): (level: 'warn' | 'error', text: string, more: readonly unknown[]) => void {
  const throttle = new LogThrottle();
  return (level, text, more) => {
    const error = errorIn(text);
    if (error === undefined) log(level, `OpenTelemetry: ${text}`, more.length > 0 ? { details: more } : {});
    else if (throttle.mayLogFirst(error.reason)) {
      const isOfMetrics = error.reason.startsWith(metricReader);
      log(level, isOfMetrics ? 'metrics cannot be exported' : 'spans cannot be exported', error);
    }
  };
}

/** The SDK's reader of metrics. If metrics cannot be exported, the error begins with its name. */
const metricReader = 'PeriodicExportingMetricReader';

/**
 * The error of a failed export. The SDK reports it as JSON, with its members as texts and without empty members. `code`
 * is the error code of Node, such as `ECONNREFUSED`, or the status of the collector's answer.
 */
function errorIn(text: string) {
  const error = jsonIn(text);
  if (!isObject(error)) return undefined;
  const { name, message = name, code } = error;
  return typeof message === 'string' ? { reason: message, ...(typeof code === 'string' && { code }) } : undefined;
}

function isNamed(environment: Environment): boolean {
  return (
    isSet(environment['OTEL_SERVICE_NAME']) || /service\.name=/.test(environment['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  );
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
