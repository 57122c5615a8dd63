import { isatty } from 'node:tty';

/**
 * The response to a kind of hang-up. `isDue` is true if such a hang-up came before `act` was known. `act` is then
 * called as soon as it is known.
 */
interface HangUpHandler {
  act: (() => void) | undefined;
  isDue: boolean;
}

const reload: HangUpHandler = { act: undefined, isDue: false };
const stop: HangUpHandler = { act: undefined, isDue: false };

/**
 * Handles SIGHUP, which would otherwise end the process. The signal asks the process to read files again. If a terminal
 * at which the process was started is gone, the signal asks it to stop.
 */
export function handleHangUps(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', () => ask(terminals.every((descriptor) => isatty(descriptor)) ? reload : stop));
}

/** Calls `act` at each hang-up from now on, to read files again; at once if a hang-up has already come. */
export function reloadOnHangUp(act: () => void): void {
  setHandler(reload, act);
}

/** Calls `act` when the terminal of the process is gone, to stop the process; at once if it has already gone. */
export function stopOnHangUp(act: () => void): void {
  setHandler(stop, act);
}

function ask(handler: HangUpHandler): void {
  if (handler.act === undefined) handler.isDue = true;
  else handler.act();
}

function setHandler(handler: HangUpHandler, act: () => void): void {
  handler.act = act;
  if (handler.isDue) act();
}
