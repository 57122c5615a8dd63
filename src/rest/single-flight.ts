/**
 * Work in flight with the same name is done once for all of its waiters. The name includes the epoch of the caller's
 * key, so that a caller reads its own writes. Work may be joined until it ends or the join window is over. Later
 * waiters begin new work, because the answer to the old work may never come.
 */
export class SingleFlight<Work extends SharedWork<object>> {
  readonly #joinWindowMs: number;
  readonly #works = new Map<string, FlightEntry<Work>>();
  /** The number of times that work was joined. */
  joined = 0;

  constructor(joinWindowMs: number) {
    this.#joinWindowMs = joinWindowMs;
  }

  /** The work in flight that one more waiter may join; undefined if there is none. Counts the work as joined. */
  find(name: string): Work | undefined {
    const entry = this.#works.get(name);
    if (entry === undefined || performance.now() - entry.startedAt >= this.#joinWindowMs) return undefined;
    this.joined += 1;
    return entry.work;
  }

  /** Lets later waiters join work that begins now. Replaces older work of the same name. */
  add(name: string, work: Work): void {
    const entry = { name, works: this.#works, startedAt: performance.now(), work };
    this.#works.set(name, entry);
    work.begin(entry);
  }
}

/**
 * Holds work until it ends. When a map grows, V8 keeps its old tables until a full garbage collection. If the tables
 * held the work itself, they would keep ended work alive, with all that it refers to.
 */
interface FlightEntry<Work> {
  readonly name: string;
  readonly works: Map<string, FlightEntry<Work>>;
  readonly startedAt: number;
  work: Work | undefined;
}

/** Work in flight and its waiters. Subclasses know how it is done and what waiters get. */
export abstract class SharedWork<Waiter extends object> {
  #entry: FlightEntry<SharedWork<object>> | undefined;
  #waiters: Waiter[] = [];

  /** None once the work has ended. */
  get waiters(): readonly Waiter[] {
    return this.#waiters;
  }

  /** Called when its single flight begins to share it. */
  begin(entry: FlightEntry<SharedWork<object>>): void {
    this.#entry = entry;
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  /** Removes a waiter. The last one to leave cancels the work; an earlier one changes nothing for the others. */
  leave(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index === -1) return;
    this.#waiters.splice(index, 1);
    if (this.#waiters.length > 0) return;
    this.end();
    this.cancel();
  }

  /** Ends the work, which can then not be joined any more. Returns its waiters. */
  end(): readonly Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    const entry = this.#entry;
    this.#entry = undefined;
    if (entry === undefined) return waiters;
    entry.work = undefined;
    if (entry.works.get(entry.name) === entry) entry.works.delete(entry.name);
    return waiters;
  }

  /** Stops the work: all waiters have left. */
  protected abstract cancel(): void;
}
