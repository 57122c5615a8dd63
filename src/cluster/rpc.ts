/**
 * A message between two processes: a call of a function, or the answer to a call. A call has an `id` only if an answer
 * is wanted.
 */
type Message =
  | { readonly call: string; readonly argument: unknown; readonly id?: number }
  | { readonly answerTo: number; readonly value: unknown };

/** The messages of one turn of the event loop, sent at its end. */
export interface Batch {
  readonly rpc: readonly Message[];
}

/**
 * A function that the other process calls, or that receives an answer of the other process. Its argument is not
 * checked, because both processes use the same types.
 */
interface Callable {
  // A method, not a property: TypeScript then accepts functions that take a narrower argument than `unknown`.
  run(argument: unknown): unknown;
}

type Functions<T> = Readonly<Record<keyof T, (argument: never) => unknown>>;

/** The argument of a function. */
export type ArgumentOf<F> = F extends (argument: infer Argument) => unknown ? Argument : never;

type AnswerOf<F> = F extends (argument: never) => infer Answer ? Awaited<Answer> : never;

/**
 * One end of the channel between the primary and a worker. `Theirs` are the functions of the other process, which this
 * one calls by their names. All messages of one turn of the event loop are sent as one.
 */
export class Channel<Theirs extends Functions<Theirs>> {
  readonly #send: (batch: Batch) => void;
  readonly #functions: ReadonlyMap<string, Callable['run']>;
  readonly #waiting = new Map<number, Callable['run']>();
  #lastId = 0;
  #outgoing: Message[] = [];

  /** `functions` may be called by the other process. */
  constructor(send: (batch: Batch) => void, functions: Readonly<Record<string, Callable['run']>>) {
    this.#send = send;
    this.#functions = new Map(Object.entries(functions));
  }

  tell<Name extends keyof Theirs & string>(name: Name, argument: ArgumentOf<Theirs[Name]>): void {
    this.#say({ call: name, argument });
  }

  /**
   * Calls a function and waits for its answer, for at most `timeoutMs` milliseconds. Undefined if no answer comes in
   * time, or if the other process has ended.
   */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs[Name]>,
    timeoutMs: number,
  ): Promise<AnswerOf<Theirs[Name]> | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      // `late` runs after input is read, so an answer that has already arrived still counts. A timer alone would run
      // before input, and in a busy process both may be overdue.
      const late = (): void => this.#answered(id, undefined);
      const timer = Number.isFinite(timeoutMs) ? setTimeout(setImmediate, timeoutMs, late) : undefined;
      const answered = (value: AnswerOf<Theirs[Name]> | undefined): void => {
        clearTimeout(timer);
        resolve(value);
      };
      this.#waiting.set(id, answered);
      this.#say({ call: name, argument, id });
    });
  }

  /** Takes a message from the other process. Messages that do not belong to a channel are ignored. */
  receive(message: unknown): void {
    if (!isBatch(message)) return;
    for (const one of message.rpc) {
      if ('answerTo' in one) this.#answered(one.answerTo, one.value);
      else this.#run(one.call, one.argument, one.id);
    }
  }

  /** Notes that the other process has ended and will not answer. */
  end(): void {
    for (const id of [...this.#waiting.keys()]) this.#answered(id, undefined);
  }

  #answered(id: number, value: unknown): void {
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.(value);
  }

  #run(name: string, argument: unknown, id: number | undefined): void {
    const result = Promise.try(() => this.#functions.get(name)?.(argument));
    if (id === undefined) return;
    const answer = (value: unknown): void => this.#say({ answerTo: id, value });
    result.then(answer, (error: unknown) => {
      answer(undefined);
      // The other process learns only that there is no answer. This one logs the cause, as an unhandled rejection.
      throw error;
    });
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
