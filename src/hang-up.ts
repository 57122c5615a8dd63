import { isatty } from 'node:tty';

/** The act that hang-ups ask for: it is done for each of them, and at once for those that came before it was known. */
interface Answer {
  act: (() => void) | undefined;
  isDue: boolean;
}

const reload: Answer = { act: undefined, isDue: false };
const stop: Answer = { act: undefined, isDue: false };

/**
 * Takes SIGHUP, which would end the process. It asks to read files again, or to stop if a terminal that the process was
 * started at is gone.
 */
export function takeHangUps(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', () => ask(terminals.every((descriptor) => isatty(descriptor)) ? reload : stop));
}

/** From now on a hang-up reads files again. */
export function reloadOnHangUp(act: () => void): void {
  answerWith(reload, act);
}

/** From now on the end of the terminal stops the process. */
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
