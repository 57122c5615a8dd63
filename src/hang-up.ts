import { isatty } from 'node:tty';

/**
 * The response to a kind of hang-up. `isDue` is true if one came before `act` was known; `act` is then called at once.
 */
interface Answer {
  act: (() => void) | undefined;
  isDue: boolean;
}

const reload: Answer = { act: undefined, isDue: false };
const stop: Answer = { act: undefined, isDue: false };

/**
 * Handles SIGHUP, which would otherwise end the process. The signal asks to read files again. If a terminal that the
 * process was started at is gone, it asks to stop.
 */
export function takeHangUps(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', () => ask(terminals.every((descriptor) => isatty(descriptor)) ? reload : stop));
}

/** Reads files again at each hang-up from now on. */
export function reloadOnHangUp(act: () => void): void {
  answerWith(reload, act);
}

/** Stops the process when its terminal is gone, from now on. */
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
