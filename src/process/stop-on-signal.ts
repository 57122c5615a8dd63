import type { Log } from '../log.ts';
import { type Journal, thrown } from '../telemetry/log.ts';
import { stopOnHangUp } from './hang-up.ts';
import { fail } from './start-failures.ts';

/** Stops gracefully for a reason, and then exits with a code. */
type Stop = (exitCode: number, reason: string) => void;

/**
 * Stops gracefully at the first signal and at once at a second one. The hang-up of the terminal does not count as a
 * second signal. A worker has no `log`, because its primary logs the stop. `end` ends the log.
 */
export function stopOnSignal(close: () => Promise<void>, { log, end }: Pick<Journal, 'end'> & Partial<Journal>): Stop {
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
 * Counts and logs errors that no code caught. A rejected promise harms no other request. After an exception, the state
 * of the process is unknown, so it answers the requests in flight and exits, for a new process to replace it.
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
