import { isatty } from 'node:tty';

/**
 * The response to a kind of hang-up. `isDue` is true if such a hang-up came before `act` was known. `act` is then
 * called as soon as it is known.
 */
interface Answer {
  act: (() => void) | undefined;
  isDue: boolean;
}

const reload: Answer = { act: undefined, isDue: false };
const stop: Answer = { act: undefined, isDue: false };

/**
 * Handles SIGHUP, which would otherwise end the process. The signal asks the process to read files again. If a terminal
 * at which the process was started is gone, the signal asks it to stop.
 */
export function takeHangUps(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', () => ask(terminals.every((descriptor) => isatty(descriptor)) ? reload : stop));
}

/** Calls `act` at each hang-up from now on, to read files again; at once if a hang-up has already come. */
export function reloadOnHangUp(act: () => void): void {
  answerWith(reload, act);
}

/** Calls `act` when the terminal of the process is gone, to stop the process; at once if it has already gone. */
export function stopOnHangUp(act: () => void): void {
  answerWith(stop, act);
}

function ask(answer: Answer): void {
  if (answer.act === undefined) answer.isDue = true;
  else answer.act();
}

function answerWith(answer: Answer, act: () => void): void {
  answer.act = act;
  if (answer.isDue) act();
}
