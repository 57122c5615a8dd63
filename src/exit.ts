import { WorkersError } from './cluster/worker-handle.ts';
import { codeOf, messageOf } from './error-text.ts';
import { stopOnHangUp } from './hang-up.ts';
import type { Log } from './log.ts';
import { ManifestError } from './operation/persisted/manifest.ts';
import { ConfigError } from './settings/settings.ts';
import { thrown } from './telemetry/log.ts';
import { complain } from './telemetry/start-lines.ts';

/** Stops gracefully for a reason, and then exits with a code. */
type Stop = (exitCode: number, reason: string) => void;

/** The log of a process that stops, and the function that ends the log. */
interface StopLog {
  /** Undefined in a worker, because its primary logs the stop. */
  readonly log?: Log | undefined;
  readonly end: () => Promise<void>;
}

/**
 * Stops gracefully at the first signal and at once at a second one. The hang-up of the terminal does not count as a
 * second signal.
 */
export function stopOnSignal(close: () => Promise<void>, { log, end }: StopLog): Stop {
  let stopping = false;
  const closeAll = async (): Promise<void> => {
    await close();
    log?.('info', 'stopped');
    await end();
  };
  const stop: Stop = (exitCode, reason) => {
    if (stopping) return;
    stopping = true;
    log?.('info', 'stopping', { reason });
    closeAll().then(() => process.exit(exitCode), fail);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stop(0, signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  stopOnHangUp(() => stop(0, 'SIGHUP, and the terminal is gone'));
  return stop;
}

/**
 * Counts and logs errors that no code caught. A rejected promise harms no other request. After an exception the state
 * of the process is unknown: it answers the requests in flight and exits, so that a new process can replace it.
 */
export function handleUncaught(count: () => void, log: Log, stop: Stop): void {
  process.on('unhandledRejection', (error) => {
    count();
    log('error', 'unhandled rejection', thrown(error));
  });
  process.on('uncaughtException', (error) => {
    count();
    log('fatal', 'uncaught exception: stopping', thrown(error));
    stop(1, 'an uncaught exception');
  });
}

/** Writes what is wrong, each fault of the settings in a line of its own, and ends the process. */
export function fail(error: unknown, inJson = false): never {
  const { message, exitCode } = failureOf(error);
  const lines = error instanceof ConfigError ? error.faults : [message];
  for (const line of lines) complain('fatal', line.replaceAll('\n', ' '), inJson);
  process.exit(exitCode);
}

/** Describes an error in one line, with the exit code: 2 if the caller can mend it, otherwise 1. */
export function failureOf(error: unknown): { readonly message: string; readonly exitCode: number } {
  const isForeignHost = foreignHost.has(codeOf(error));
  const usageError =
    isForeignHost ||
    error instanceof ConfigError ||
    error instanceof ManifestError ||
    (error instanceof TypeError && 'code' in error);
  const reason = messageOf(error);
  const message = isForeignHost ? `HOST: expected an address of this machine, but got: ${reason}` : reason;
  const exitCode = error instanceof WorkersError ? error.exitCode : usageError ? 2 : 1;
  return { message: message.replaceAll('\n', ' '), exitCode };
}

/** Waits until a server listens. If its port is taken, the error names the setting. */
export async function listening<T>(
  variable: 'PORT' | 'METRICS_PORT' | 'WORKSPACE_PORT',
  start: Promise<T>,
): Promise<T> {
  try {
    return await start;
  } catch (error) {
    const code = codeOf(error);
    if (!(error instanceof Error) || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    // A port that is taken may be free soon; a forbidden port stays forbidden.
    if (code === 'EACCES')
      throw new ConfigError(`${variable}: expected a port that may be listened on, but got: ${error.message}`);
    const place = variable === 'WORKSPACE_PORT' ? '127.0.0.1' : 'HOST';
    const found = `expected a port that is free at ${place}, but got: ${error.message}`;
    // No free port is advised for metrics, because scrapers must know their port.
    const advice = variable === 'METRICS_PORT' ? '' : `; ${variable}=0 takes a free one`;
    throw new Error(`${variable}: ${found}${advice}`, { cause: error });
  }
}

/** The codes of errors of the operating system for an address that this machine does not have. */
const foreignHost: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN']);
