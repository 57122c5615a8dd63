// Which turn of the event loop a batch waits for, said once for rows and for windows.
//
// Loaders gather what an operation wants at one time, and read it together. What is wanted at one time is what the
// executor asks for before it has to wait: when an answer arrives, it completes fields and calls resolvers in promise
// callbacks, one of which queues the next. A batch must be dispatched after the last of them, and before the process
// waits for its sockets again: earlier, it would miss a window and read it with a call of its own; later, every call
// would wait for an answer that has nothing to do with it.
//
// Node has a queue of promise callbacks and one of ticks (`process.nextTick`). While it runs promise callbacks, it goes on
// until none is left, those that were queued meanwhile included, and only then turns to the ticks; both are empty
// before the event loop goes on. A tick that is queued by a promise callback therefore runs when every callback of this
// turn has run. A tick that is queued outside of one, as by a resolver that the executor calls directly, would run
// first instead. So the tick is always queued by a promise callback. DataLoader's own schedule is the same.
//
// A tick that queues another tick puts it behind those of this turn, and before any promise callback. So batches have an
// order:
//   1st tick: rows. Their batch may want a page of the list first, and asks for that page before it returns.
//   2nd tick: windows. The page that rows want is merged with the windows that resolvers want.
//   3rd tick: all that was wanted by then has been asked for, so that a row can wait for a page which may hold it.
const ticks = { rows: 1, windows: 2, afterAll: 3 } as const;

const resolved = Promise.resolve();

/** Dispatches a batch that the first of its loads schedules, when the resolvers of this turn have made all of theirs. */
export function scheduleDispatch(batch: 'rows' | 'windows', dispatch: () => void): void {
  schedule(ticks[batch], dispatch);
}

/** Resolves when all that is wanted by now has been asked for. */
export function dispatched(): Promise<void> {
  return new Promise((resolve) => schedule(ticks.afterAll, resolve));
}

function schedule(count: number, callback: () => void): void {
  const start = (): void => inTicks(count, callback);
  resolved.then(start, start);
}

function inTicks(count: number, callback: () => void): void {
  process.nextTick(count === 1 ? callback : () => inTicks(count - 1, callback));
}
