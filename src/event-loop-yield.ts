/** The time within one turn of the event loop in which operations and large work may begin, in milliseconds. */
const turnMs = 20;

/** The maximum number of operations that begin in one turn of the event loop after they have waited. */
const perTurn = 8;

/** The longest time that large work waits, in milliseconds, before the process counts as crowded. */
const crowdedMs = 1000;

type Work = () => void;

/** The `endsAt` of work that ends an operation. Such work goes before all other pieces. */
const first = Number.NEGATIVE_INFINITY;

/** A piece of large work that waits. Times are those of `performance.now()`. */
interface Piece {
  readonly work: Work;
  readonly since: number;
  /** The time until which the work is useful. This time only decides the order: work is done even if it is late. */
  readonly endsAt: number;
}

/**
 * Keeps many simultaneous operations from blocking the event loop. Operations that do not begin within `turnMs` wait
 * for later turns, so that health checks, answers of the upstream and new connections come in between. Large work for
 * operations that have begun, such as reading a large body, also waits. At most one piece is done in each later turn.
 */
export class EventLoopYield {
  readonly #operations: Work[] = [];
  /**
   * Waiting pieces, in the order of `endsAt`. If there is not enough time for all of them, this order lets some
   * operations complete instead of none.
   */
  readonly #pieces: Piece[] = [];
  /** The moment after which further tasks of this turn have to wait. */
  #until = 0;
  /** True if `#turn` will run in the next turn. */
  #isOn = false;
  /** True if a piece waits for a later turn. */
  #isLargeOn = false;
  /** True if the last turn skipped large work to let everything else run. */
  #isRested = false;

  /**
   * Returns undefined if an operation may begin at once, which is nearly always so; otherwise a promise that resolves
   * when its turn comes. `now` is the time of `performance.now()`.
   */
  waitForTurn(now: number): Promise<void> | undefined {
    if (this.#mayBegin(now) && this.#operations.length === 0) return undefined;
    return new Promise((resolve) => void this.#operations.push(resolve));
  }

  /**
   * Does the same as `waitForTurn` for the large work that ends an operation, such as writing a large answer. This work
   * goes before other pieces, because it releases memory.
   */
  waitToWrite(): Promise<void> | undefined {
    if (this.#mayBegin(performance.now()) && !this.#isLargeOn) return undefined;
    return new Promise((resolve) => this.doLater(resolve, first));
  }

  /**
   * Does large work at once if it may begin, otherwise in a later turn. `endsAt` is the time until which the work is
   * useful.
   */
  doLarge(work: Work, endsAt: number): void {
    if (this.#mayBegin(performance.now()) && !this.#isLargeOn) work();
    else this.doLater(work, endsAt);
  }

  doLater(work: Work, endsAt: number): void {
    const before = this.#pieces.findLastIndex((piece) => piece.endsAt <= endsAt);
    this.#pieces.splice(before + 1, 0, { work, since: performance.now(), endsAt });
    if (this.#isLargeOn) return;
    this.#isLargeOn = true;
    setImmediate(this.#doOne);
  }

  /**
   * True if there is more large work than the process can do soon. No operation that would add to it should begin. Work
   * that ends an operation does not count, because it makes room.
   */
  get isCrowded(): boolean {
    const before = performance.now() - crowdedMs;
    return this.#pieces.some(({ since, endsAt }) => since < before && endsAt !== first);
  }

  #mayBegin(now: number): boolean {
    if (!this.#isOn) {
      this.#isOn = true;
      this.#until = now + turnMs;
      setImmediate(this.#turn);
    }
    return now < this.#until;
  }

  readonly #turn = (): void => {
    this.#until = performance.now() + turnMs;
    const { length } = this.#operations;
    this.#isOn = length > 0;
    if (!this.#isOn) return;
    setImmediate(this.#turn);
    // Each operation begins in a callback of its own. The promise callbacks that it sets off then run before the
    // next operation begins. Meanwhile the time of this turn may run out, so `#begin` checks it again.
    for (let left = Math.min(perTurn, length) - 1; left > 0; left -= 1) setImmediate(this.#begin);
    this.#operations.shift()?.();
  };

  readonly #begin = (): void => {
    if (performance.now() < this.#until) this.#operations.shift()?.();
  };

  readonly #doOne = (): void => {
    this.#isRested = !this.#isRested && performance.now() >= this.#until;
    const work = this.#isRested ? undefined : this.#pieces.shift()?.work;
    this.#isLargeOn = this.#pieces.length > 0;
    if (this.#isLargeOn) setImmediate(this.#doOne);
    work?.();
  };
}
