import { setTimeout as delay } from 'node:timers/promises';
import type { Orders, Started } from '../cluster/messages.ts';
import type { PrimaryLink } from '../cluster/primary-link.ts';
import { createGateway, createSharedLedger } from '../gateway.ts';
import type { Log } from '../log.ts';
import { checkUpstream } from '../rest/check-upstream.ts';
import { createAdminEndpoint, followAdminToken } from '../server/admin.ts';
import { startMetricsServer, startServer } from '../server/server.ts';
import { type Config, cursorSecretOf, isProduction } from '../settings/config.ts';
import { followSharedFiles, type SharedFiles } from '../settings/shared-files.ts';
import { createLog, type Journal, thrown } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { logForeignLines, printProblem } from '../telemetry/start-lines.ts';
import { reloadOnHangUp } from './hang-up.ts';
import { failureOf, listening } from './start-failures.ts';
import { handleUncaught, stopOnSignal } from './stop-on-signal.ts';

/** The longest time that a start waits for the upstream's answer, in milliseconds. Requests are served meanwhile. */
const checkWaitMs = 1000;

/** The longest time that a stop takes, in milliseconds, even if something hangs. A long STOP_DELAY_MS extends it. */
const longestStopMs = 15_000;

/** The least time for answers in flight after STOP_DELAY_MS, in milliseconds. */
const leastDrainMs = 5000;

/** The time in which a worker has to end once nothing is in flight, in milliseconds. */
const endMs = 2000;

/** The task of a process that serves. */
export interface Task extends Orders {
  /** The environment in which OpenTelemetry's SDK looks for its settings. */
  readonly environment: NodeJS.ProcessEnv;
  /** Ends the servers that were started beside the gateway, such as the embedded workspace. */
  readonly close: () => Promise<void>;
}

/** Serves from this process, and stops on a signal. Resolves when it listens. */
export async function serveAlone({ close, environment, ...orders }: Task): Promise<Started> {
  const journal = openLog(orders.config, false, environment);
  const { log } = journal;
  const followed = await followSharedFiles(orders.config, environment, log);
  const starting = startServing(orders, environment, log, followed.files);
  // Set before the start is complete, because the process serves before that.
  const end = stopOnSignal(async () => {
    await (await starting).stop();
    followed.close();
    await close();
  }, journal);
  const { gateway, url, checked } = await starting;
  handleUncaught(gateway.metrics.unexpected, log, end);
  reloadOnHangUp(() => {
    followed.reload();
    void gateway.reload();
  });
  return { url, upstream: await checked };
}

/** Serves from worker processes, and stops them on a signal. Resolves when they listen. */
export async function lead({ environment, close, ...orders }: Task): Promise<Started> {
  const { config, upstreamUrl } = orders;
  const journal = openLog(config, true, environment);
  const { log } = journal;
  const { Workers } = await import('../cluster/primary.ts');
  const followed = await followSharedFiles(config, environment, log);
  const workers = new Workers({
    orders,
    files: followed.files,
    ...createSharedLedger(config, upstreamUrl, log),
    stopMs: config.stopDelayMs + drainMsOf(config) + endMs,
    log,
  });
  const starting = workers.start();
  // Set while workers are still starting, because the first one serves before the others have started.
  const end = stopOnSignal(async () => {
    await starting;
    await workers.stop();
    followed.close();
    await close();
  }, journal);
  handleUncaught(() => undefined, log, end);
  const started = await starting;
  void workers.givenUp.then((error) => {
    printProblem('fatal', error.message, isProduction(environment));
    end(1, error.message);
  });
  reloadOnHangUp(() => {
    workers.reload();
    followed.reload();
  });
  return started;
}

/** Serves as a worker, with the orders of the primary that started this process. */
export async function serveAsWorker(environment: NodeJS.ProcessEnv): Promise<void> {
  const { PrimaryLink } = await import('../cluster/primary-link.ts');
  const link = new PrimaryLink();
  const orders = await link.orders;
  const { log, end: endLog } = openLog(orders.config, true, environment);
  try {
    const starting = startServing(orders, environment, log, link.files, link);
    const end = stopOnSignal(async () => (await starting).stop(), { end: endLog });
    const { gateway, url, checked } = await starting;
    handleUncaught(gateway.metrics.unexpected, log, end);
    link.serve({
      url,
      upstream: await checked,
      stop: () => end(0, 'the primary stops'),
      reload: () => void gateway.reload(),
      measure: async () => ({ snapshot: await gateway.metrics.snapshot(), usage: await gateway.metrics.usage() }),
    });
  } catch (error) {
    const { message, exitCode } = failureOf(error);
    await link.fail(message, exitCode);
    process.exit(exitCode);
  }
}

/** Opens the log of a process. In production, nothing else is printed. */
function openLog(config: Config, isShared: boolean, environment: NodeJS.ProcessEnv): Journal {
  const journal = createLog(config, isShared);
  if (isProduction(environment)) logForeignLines(journal.log);
  return journal;
}

/**
 * Starts the servers of this process. `checked` is a phrase about the upstream's answer, or about the lack of an answer
 * within a second. It is undefined if the upstream is the embedded workspace.
 */
async function startServing(
  { config, upstreamUrl, demoKey }: Orders,
  environment: NodeJS.ProcessEnv,
  log: Log,
  files: SharedFiles,
  link?: PrimaryLink,
) {
  const adminToken =
    config.adminTokenFile === undefined ? undefined : await followAdminToken(config.adminTokenFile, log);
  // Loaded only if it is needed: OpenTelemetry's SDK takes longer to load than the rest of the gateway.
  const tracing = config.traces
    ? (await import('../telemetry/tracing/start.ts')).startTracing(environment, upstreamUrl, log)
    : undefined;
  const gateway = await createGateway({
    ...config,
    ...files,
    persisted: { ...config.persisted, sharedTexts: link?.store },
    epochs: link?.epochs,
    ledger: link?.ledger,
    upstreamUrl,
    cursorSecret: cursorSecretOf(config.cursorSecret, upstreamUrl),
    demoKey,
    tracing: tracing?.tracing,
    report: (error) => log('error', 'unexpected error', thrown(error)),
    log,
  });
  const { port, host, stopDelayMs, compression } = config;
  const metrics = link === undefined ? gateway.metrics : metricsOver(gateway.metrics, link);
  const options = { port, host, stopDelayMs, drainMs: drainMsOf(config), compression, socket: link?.socket, log };
  const isSeparate = config.metricsPort !== undefined;
  const server = await listening('PORT', startServer({ ...gateway, metrics }, { ...options, metrics: !isSeparate }));
  const admin =
    adminToken && createAdminEndpoint({ token: adminToken.current, usage: metrics.usage, purge: gateway.purge, log });
  const scraped = isSeparate ? startMetricsServer(metrics, { ...options, port: config.metricsPort, admin }) : undefined;
  const closeMetrics = scraped && (await listening('METRICS_PORT', scraped));
  const checked = config.upstreamUrl === undefined ? undefined : checkUpstream(gateway.resources);
  return {
    gateway,
    url: server.url,
    checked: Promise.race([checked, delay(checkWaitMs, 'has not answered yet', { ref: false })]),
    stop: async (): Promise<void> => {
      await server.stop();
      closeMetrics?.();
      adminToken?.close();
      await tracing?.stop();
    },
  };
}

function metricsOver(metrics: Metrics, link: PrimaryLink): Metrics {
  return {
    ...metrics,
    render: async () => (await link.totals()).metrics,
    usage: async () => (await link.totals()).usage,
  };
}

function drainMsOf({ stopDelayMs }: Config): number {
  return Math.max(longestStopMs - stopDelayMs, leastDrainMs);
}
