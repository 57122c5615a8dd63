/** A message of one process to the other: a call of one of its functions, or the answer to a call. */
type Message =
  | { readonly call: string; readonly argument: unknown /** Undefined if no answer is wanted. */; readonly id?: number }
  | { readonly answerTo: number; readonly value: unknown };

/** What is sent at the end of a turn of the event loop. */
export interface Batch {
  readonly rpc: readonly Message[];
}

/** A function that is called by name: both processes know the same interface of it. */
interface Callable {
  // A method, for its argument has the type that the interface says.
  run(argument: unknown): unknown;
}

/** A call that waits for its answer. */
interface Waiting {
  // A method, as in Callable.
  resolve(value: unknown): void;
}

type Functions<T> = Readonly<Record<keyof T, (argument: never) => unknown>>;

/** What a function is called with. */
export type ArgumentOf<F> = F extends (argument: infer Argument) => unknown ? Argument : never;

type AnswerOf<F> = F extends (argument: never) => infer Answer ? Awaited<Answer> : never;

/**
 * One end of the channel between the first process and a worker. Each calls functions of the other, by the names of `Theirs`. All
 * that is said in one turn of the event loop is one message.
 */
export class Channel<Theirs extends Functions<Theirs>> {
  readonly #send: (batch: Batch) => void;
  readonly #functions: ReadonlyMap<string, Callable['run']>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #outgoing: Message[] = [];

  /** `functions` are those that the other process may call. */
  constructor(send: (batch: Batch) => void, functions: Readonly<Record<string, Callable['run']>>) {
    this.#send = send;
    this.#functions = new Map(Object.entries(functions));
  }

  /** Calls a function, and does not wait for it. */
  tell<Name extends keyof Theirs & string>(name: Name, argument: ArgumentOf<Theirs[Name]>): void {
    this.#say({ call: name, argument });
  }

  /**
   * Calls a function, and waits so many milliseconds for its answer. Undefined if none comes in time, or if the other process has
   * ended.
   */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs[Name]>,
    timeoutMs: number,
  ): Promise<AnswerOf<Theirs[Name]> | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      // An answer that has arrived by then is read first: timers run before it, and a busy process may be late for both.
      const late = (): void => this.#answered(id, undefined);
      const timer = Number.isFinite(timeoutMs) ? setTimeout(setImmediate, timeoutMs, late) : undefined;
      const answered = (value: AnswerOf<Theirs[Name]> | undefined): void => {
        clearTimeout(timer);
        resolve(value);
      };
      const waiting: Waiting = { resolve: answered };
      this.#waiting.set(id, waiting);
      this.#say({ call: name, argument, id });
    });
  }

  /** The other process has said something; messages that are not of a channel are none. */
  receive(message: unknown): void {
    if (!isBatch(message)) return;
    for (const one of message.rpc) {
      if ('answerTo' in one) this.#answered(one.answerTo, one.value);
      else this.#run(one.call, one.argument, one.id);
    }
  }

  /** The other process has ended: it answers no more. */
  end(): void {
    for (const id of [...this.#waiting.keys()]) this.#answered(id, undefined);
  }

  #answered(id: number, value: unknown): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(value);
  }

  #run(name: string, argument: unknown, id: number | undefined): void {
    const result = this.#functions.get(name)?.(argument);
    if (id === undefined) return;
    const answer = (value: unknown): void => this.#say({ answerTo: id, value });
    if (result instanceof Promise) result.then(answer, () => answer(undefined));
    else answer(result);
  }

  #say(message: Message): void {
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush());
    this.#outgoing.push(message);
  }

  #flush(): void {
    const rpc = this.#outgoing;
    this.#outgoing = [];
    this.#send({ rpc });
  }
}

function isBatch(message: unknown): message is Batch {
  return typeof message === 'object' && message !== null && 'rpc' in message;
}
