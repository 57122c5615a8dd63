import { setTimeout as delay } from 'node:timers/promises';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { startNodeSdk } from '@opentelemetry/sdk-node';
import { isObject } from '../../rest/values.ts';
import type { Tracing } from './operations.ts';
import { createTracing } from './spans.ts';

/** Receives the messages of OpenTelemetry's SDK, for example that spans cannot be sent. */
type Complain = (level: 'warn' | 'error', message: string, details?: readonly unknown[]) => void;

/** The environment of the process, where the SDK reads it. */
type Environment = Record<string, string | undefined>;

/** Tracing under way. */
export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends the remaining spans. */
  readonly stop: () => Promise<void>;
}

/** The longest time for sending the last spans, in milliseconds: a collector must not delay the exit. */
const stopMs = 3000;

/**
 * The longest time that spans are sent, with every further try, in milliseconds, unless the environment says so:
 * OpenTelemetry's own 10 s, behind the 5 s in which spans are gathered, would tell too late that a collector is down.
 */
const sendMs = 5000;
const sendVariable = 'OTEL_EXPORTER_OTLP_TIMEOUT';

/** Unless the environment names it. */
const serviceName = 'workspace-graphql-gateway';

/**
 * Starts OpenTelemetry's SDK, which reads its standard `OTEL_*` variables itself. By default it would also export metrics
 * and logs; here these are exported only if their variables ask for it.
 */
export function startTracing(environment: Environment, upstreamUrl: string, complain: Complain): RunningTracing {
  if (!isSet(environment[sendVariable])) environment[sendVariable] = String(sendMs);
  const sdk = startNodeSdk({
    ...(!isNamed(environment) && { resourceAttributes: { 'service.name': serviceName } }),
    ...(!isSet(environment['OTEL_METRICS_EXPORTER']) && { metricReaders: [] }),
    ...(!isSet(environment['OTEL_LOGS_EXPORTER']) && { logRecordProcessors: [] }),
  });
  const silent = (): void => undefined;
  const pass = (level: 'warn' | 'error', text: string, more: readonly unknown[]): void => {
    const parsed = parse(text);
    complain(level, parsed.message, [...parsed.details, ...more]);
  };
  diag.setLogger(
    {
      error: (message, ...more) => pass('error', message, more),
      warn: (message, ...more) => pass('warn', message, more),
      info: silent,
      debug: silent,
      verbose: silent,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return {
    tracing: createTracing(trace.getTracer(serviceName), upstreamUrl),
    stop: async () => {
      const shutdown = sdk.shutdown().catch((error: unknown) => complain('error', String(error)));
      await Promise.race([shutdown, delay(stopMs, undefined, { ref: false })]);
    },
  };
}

/** The SDK reports errors as JSON with their codes and stacks: the message for people, and all of it. */
function parse(text: string): { readonly message: string; readonly details: readonly unknown[] } {
  try {
    const error: unknown = JSON.parse(text);
    if (isObject(error) && typeof error['message'] === 'string') return { message: error['message'], details: [error] };
  } catch {
    // Plain words.
  }
  return { message: text, details: [] };
}

function isNamed(environment: Environment): boolean {
  return (
    isSet(environment['OTEL_SERVICE_NAME']) || /service\.name=/.test(environment['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  );
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
