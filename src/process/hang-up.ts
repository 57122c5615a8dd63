import { isatty } from 'node:tty';

/** True if a hang-up came before `reloadOnHangUp` was called. The files then have to be read again. */
let isReloadDue = false;

let reload = (): void => {
  isReloadDue = true;
};

const terminalGone = Promise.withResolvers<void>();

/**
 * Handles SIGHUP, which would otherwise end the process. The signal asks the process to read files again. If a terminal
 * at which the process was started is gone, the signal asks it to stop.
 */
export function handleHangUps(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', () => {
    if (terminals.every((descriptor) => isatty(descriptor))) reload();
    else terminalGone.resolve();
  });
}

/** Calls `act`, which reads files again, at each hang-up from now on, and at once if one has already come. */
export function reloadOnHangUp(act: () => void): void {
  reload = act;
  if (isReloadDue) act();
}

/** Calls `act` when the terminal of the process is gone, to stop the process; at once if it has already gone. */
export function stopOnHangUp(act: () => void): void {
  void terminalGone.promise.then(act);
}
