/** The time in one turn of the event loop in which operations may begin and large work may be done, in milliseconds. */
const turnMs = 20;

/** Of the operations that wait so many begin in each further turn at most. */
const perTurn = 8;

/** Large work that waits longer than this has more before it than the process can do soon, in milliseconds. */
const crowdedMs = 1000;

type Work = () => void;

/** A piece of large work that waits. Times are by the clock. */
interface Piece {
  readonly work: Work;
  readonly since: number;
  /** The end of the time in which it may still run. */
  readonly endsAt: number;
}

/**
 * Keeps operations that all come at once from having the event loop to themselves: those that do not begin within a
 * while wait for its next turns, so that health checks, answers of the upstream and new connections come in between.
 * So does large work for operations that have begun, such as reading a large body: one piece of it in each further turn.
 */
export class EventLoopYield {
  readonly #now: () => number;
  readonly #operations: Work[] = [];
  /** Those that end soonest first: if not all of them can be done in time, some operations are done and not none. */
  readonly #pieces: Piece[] = [];
  /** Pieces that end operations, which gives back memory: they go before the others. */
  readonly #lastPieces: Work[] = [];
  /** The moment after which further tasks of this turn have to wait. */
  #until = 0;
  /** True if the next turn is awaited. */
  #isOn = false;
  /** True if a piece waits for the next turn. */
  #isLargeOn = false;
  /** True if the last turn was left to everything else. */
  #isRested = false;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Undefined if an operation may begin at once, which is nearly always so. `now` is the time by its clock. */
  take(now: number): Promise<void> | undefined {
    if (this.#mayBegin(now) && this.#operations.length === 0) return undefined;
    return new Promise((resolve) => void this.#operations.push(resolve));
  }

  /** The same for the large work that ends an operation, such as writing a large answer. */
  takeLast(): Promise<void> | undefined {
    if (this.#mayBegin(this.#now()) && !this.#isLargeOn) return undefined;
    return new Promise((resolve) => {
      this.#lastPieces.push(resolve);
      this.#awaitTurn();
    });
  }

  /** Does large work at once if it may begin, else in a later turn; `endsAt` is when it is too late, by the clock. */
  doLarge(work: Work, endsAt: number): void {
    if (this.#mayBegin(this.#now()) && !this.#isLargeOn) work();
    else this.doLater(work, endsAt);
  }

  /** Does large work in a later turn. */
  doLater(work: Work, endsAt: number): void {
    const before = this.#pieces.findLastIndex((piece) => piece.endsAt <= endsAt);
    this.#pieces.splice(before + 1, 0, { work, since: this.#now(), endsAt });
    this.#awaitTurn();
  }

  /** True if there is more large work than can be done soon: no operation should begin that brings more of it. */
  get isCrowded(): boolean {
    const before = this.#now() - crowdedMs;
    return this.#pieces.some(({ since }) => since < before);
  }

  #mayBegin(now: number): boolean {
    if (!this.#isOn) {
      this.#isOn = true;
      this.#until = now + turnMs;
      setImmediate(this.#turn);
    }
    return now < this.#until;
  }

  #awaitTurn(): void {
    if (this.#isLargeOn) return;
    this.#isLargeOn = true;
    setImmediate(this.#doOne);
  }

  readonly #turn = (): void => {
    this.#until = this.#now() + turnMs;
    const { length } = this.#operations;
    this.#isOn = length > 0;
    if (!this.#isOn) return;
    setImmediate(this.#turn);
    // Each task has a callback of its own. Its consequences run before the next task, which may be too late then.
    for (let left = Math.min(perTurn, length) - 1; left > 0; left -= 1) setImmediate(this.#begin);
    this.#operations.shift()?.();
  };

  readonly #begin = (): void => {
    if (this.#now() < this.#until) this.#operations.shift()?.();
  };

  readonly #doOne = (): void => {
    this.#isRested = !this.#isRested && this.#now() >= this.#until;
    const work = this.#isRested ? undefined : (this.#lastPieces.shift() ?? this.#pieces.shift()?.work);
    this.#isLargeOn = this.#lastPieces.length + this.#pieces.length > 0;
    if (this.#isLargeOn) setImmediate(this.#doOne);
    work?.();
  };
}
