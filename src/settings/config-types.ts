import type { BodyLimits } from '../http/request.ts';
import type { DocumentLimits } from '../operation/document-limits.ts';
import type { DocumentMode } from '../operation/persisted/policy.ts';
import type { Route } from '../rest/transport/pools.ts';
import type { AuthConfig } from './auth-settings.ts';
import type { TlsFiles } from './tls-settings.ts';

/** Everything that can be set from outside, checked and frozen. Times in milliseconds, sizes in rows or bytes. */
export interface Config {
  /** What looks like a mistake, but need not be one. */
  readonly warnings: readonly string[];
  readonly port: number;
  readonly host: string;
  /** Undefined: metrics are on the port of the gateway. */
  readonly metricsPort: number | undefined;
  /** Processes that serve; with one, it is this process. */
  readonly workers: number;
  /** Undefined: the embedded workspace is started and used. */
  readonly upstreamUrl: string | undefined;
  readonly upstreamRoute: Route;
  /** Where its certificates and key come from. */
  readonly upstreamTlsFiles: TlsFiles;
  /** How requests are authenticated where the gateway holds the keys; undefined: callers bring their own. */
  readonly auth: AuthConfig | undefined;
  readonly operationDeadlineMs: number;
  readonly maxPageSize: number;
  /** Most REST calls of an operation, and most rows that it may ask for. */
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
  /** Most JSON objects, and most bytes, of the data of an answer. */
  readonly maxAnswerObjects: number;
  readonly maxAnswerBytes: number;
  /** Whether clients may see which REST calls an operation makes. */
  readonly explain: boolean;
  /** Share of operations whose REST answers are compared with the OpenAPI document. */
  readonly driftSampleRate: number;
  /** Where the command `drift` finds its key. */
  readonly driftKeyFile: string | undefined;
  readonly cursorSecret: string | undefined;
  readonly logLevel: LogLevel;
  readonly upstreamConnections: number;
  readonly maxUpstreamInFlight: number;
  /** What a request body may be at most. */
  readonly bodyLimits: BodyLimits;
  readonly documentLimits: DocumentLimits;
  /** Most errors that an answer tells. */
  readonly maxErrors: number;
  /** Whether clients may read the schema. */
  readonly introspection: boolean;
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  /** Names of request headers that pages may send beside the usual ones. */
  readonly corsHeaders: readonly string[];
  /** Whether answers are compressed for clients that ask for it. */
  readonly compression: boolean;
  /** Whether OpenTelemetry's own variables ask for traces. */
  readonly traces: boolean;
  /** How long requests are still taken after `/readyz` has begun to fail. */
  readonly stopDelayMs: number;
  readonly persisted: PersistedConfig;
  readonly workspace: WorkspaceConfig;
}

/** Persisted documents. */
export interface PersistedConfig {
  /** A path or glob of manifests. */
  readonly files: string | undefined;
  readonly mode: DocumentMode;
  readonly strict: boolean;
  /** Whether clients may register documents by their hash; undefined: in every mode but `only`. */
  readonly automatic: boolean | undefined;
  readonly redisUrl: string | undefined;
  /** Certificates in PEM form. */
  readonly redisAuthorities: string | undefined;
  /** In seconds. */
  readonly getMaxAge: number;
}

/** The embedded workspace, and the faults it can play for tests and demonstrations. */
export interface WorkspaceConfig {
  readonly port: number;
  readonly database: string | undefined;
  readonly latencyMs: number;
  readonly errorRate: number;
  readonly pageCap: number | undefined;
  readonly requestsPerMinute: number | undefined;
  /** How the `next` of events goes on. */
  readonly eventsNext: (typeof eventsNexts)[number];
}

/** The values of WORKSPACE_EVENTS_NEXT. */
export const eventsNexts = ['offset', 'before'] as const;

/** The levels of LOG_LEVEL. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** The least grave level that is written; `silent` writes nothing. */
export type LogLevel = (typeof logLevels)[number];
