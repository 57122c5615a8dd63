/** Processes of the benchmark that take orders and answer each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A child process with one conversation. */
export interface Child<Order, Answer> extends AsyncDisposable {
  readonly pid: number;
  /** Sends an order and waits for its answer. */
  ask(order: Order): Promise<Answer>;
  /** Waits for an answer that comes unasked. */
  answer(): Promise<Answer>;
}

/** Starts a module beside this one; `prefix` is the words before its command. */
export function startChild<Order extends object, Answer>(
  module: string,
  prefix: readonly string[],
): Child<Order, Answer> {
  const [command, ...args] = [...prefix, process.execPath, fileURLToPath(new URL(module, import.meta.url))];
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
  const answer = async (): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const fail = (): void => reject(new Error(`${module} ended`));
    child.once('message', resolve).once('exit', fail);
    const message = await promise.finally(() => child.off('message', resolve).off('exit', fail));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the module's own types say
    return message as Answer;
  };
  return {
    pid: child.pid ?? 0,
    answer,
    ask: async (order) => {
      const answered = answer();
      child.send(order);
      return answered;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
