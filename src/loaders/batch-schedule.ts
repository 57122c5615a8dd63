// The schedule of batches, for rows and for windows.
//
// Loaders gather what an operation wants at one time, and read it together. When an answer arrives, the executor
// completes fields and calls resolvers in promise callbacks, each of which may queue the next. A batch must be
// dispatched after the last of these callbacks, and before the process waits for its sockets again. If it were
// dispatched earlier, it would miss a window, which would then take a call of its own. If it were dispatched later, its
// call would wait for an unrelated answer.
//
// Node has a queue of promise callbacks and a queue of ticks (`process.nextTick`). It runs promise callbacks until none
// is left, including those queued meanwhile, and only then the ticks. Both queues are empty before the event loop goes
// on. So a tick that a promise callback has queued runs after all callbacks of this turn. If a resolver that the
// executor calls directly queued a tick, that tick would run before the callbacks. Therefore a promise callback always
// queues the tick. DataLoader does the same, but it answers a batch as a whole: a row would wait for the pages of other
// lists.
//
// A tick that another tick queues runs after all other ticks of this turn, and before any promise callback. So batches
// have an order:
//   1st tick: rows. Their batch may want a page of the list first, and asks for that page before it returns.
//   2nd tick: windows. The page that rows want is merged with the windows that resolvers want.
//   3rd tick: everything wanted by then has been requested, so a row can wait for a page that may hold it.
const ticks = { rows: 1, windows: 2, afterAll: 3 } as const;

const resolved = Promise.resolve();

/** Dispatches a batch once the resolvers of this turn have made all of their loads. Call it at the first load. */
export function scheduleDispatch(batch: keyof typeof ticks, dispatch: () => void): void {
  let ticksLeft: number = ticks[batch];
  const tick = (): void => {
    if (ticksLeft === 0) return dispatch();
    ticksLeft -= 1;
    process.nextTick(tick);
  };
  resolved.then(tick, tick);
}

/** Resolves when everything that is wanted by now has been requested. */
export function dispatched(): Promise<void> {
  return new Promise((resolve) => scheduleDispatch('afterAll', resolve));
}
