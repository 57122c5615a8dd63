// When an answer arrives, the executor completes fields and calls resolvers in promise callbacks, each of which may
// queue the next. A batch must be dispatched after the last of these callbacks, and before the process waits for its
// sockets again. If it were dispatched earlier, it would miss a window, which would then take a call of its own. If it
// were dispatched later, its call would wait for an unrelated answer.
//
// Node has a queue of promise callbacks and a queue of ticks (`process.nextTick`). It runs promise callbacks until none
// is left, including those queued meanwhile, and only then the ticks. Both queues are empty before the event loop goes
// on. So a tick that a promise callback has queued runs after all callbacks of this turn. If a resolver that the
// executor calls directly queued a tick, that tick would run before the callbacks. Therefore a promise callback always
// queues the tick. DataLoader does the same, but it answers a batch as a whole: a row would wait for the pages of other
// lists.

/**
 * The kinds of batches, in the order in which those of one turn are dispatched:
 *
 * - `rows`: they may want a page of their list first, and ask for that page at once;
 * - `windows`: the page that rows want is merged with the windows that resolvers want;
 * - `waiting`: everything wanted by then has been requested, so a row can wait for a page that may hold it.
 */
const kinds = ['rows', 'windows', 'waiting'] as const;

type Dispatch = () => void;

const resolved = Promise.resolve();

/** The batches of the loaders of one operation, which gather what is wanted in one turn and read it together. */
export class BatchSchedule {
  readonly #due: Record<(typeof kinds)[number], Dispatch[]> = { rows: [], windows: [], waiting: [] };
  #isScheduled = false;

  /**
   * Dispatches a batch once the resolvers of this turn have made all of their loads, and no batch of an earlier kind is
   * left. Call it at the first load.
   */
  add(kind: (typeof kinds)[number], dispatch: Dispatch): void {
    this.#due[kind].push(dispatch);
    this.#schedule();
  }

  /** Resolves when everything that is wanted by now has been requested. */
  allRequested(): Promise<void> {
    return new Promise((resolve) => this.add('waiting', resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void resolved.then(() => process.nextTick(() => this.#dispatchNext()));
  }

  /** Dispatches the batches of the first kind that has any. Later kinds follow once the callbacks of these have run. */
  #dispatchNext(): void {
    this.#isScheduled = false;
    const [next, ...later] = kinds.filter((kind) => this.#due[kind].length > 0);
    if (later.length > 0) this.#schedule();
    if (next !== undefined) for (const dispatch of this.#due[next].splice(0)) dispatch();
  }
}
