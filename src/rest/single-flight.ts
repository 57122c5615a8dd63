/** When work may be shared. */
export interface SingleFlightOptions {
  /** How long after its start work may be joined, in milliseconds. */
  readonly joinWindowMs: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Sharing keys whose maps are kept although they have no work at the moment: they will have some again. */
const mostIdle = 1000;

/**
 * Single flight: equal work under way is done once for all who wait for it. Work is equal if it has the same sharing key,
 * which stands for the caller (how it is made is up to the user of this class), and the same name.
 *
 * Work may be joined from its start until it ends, but only within the join window and not after `invalidate`: what
 * joins later might wait for an answer that never comes, or read what has been overwritten since.
 */
export class SingleFlight<Work extends SharedWork<object>> {
  readonly #options: SingleFlightOptions;
  readonly #byKey = new Map<string, Map<string, Place<Work>>>();
  #sweepAt = mostIdle;
  #joined = 0;

  constructor(options: SingleFlightOptions) {
    this.#options = options;
  }

  /** How often work was joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** The work under way that one more may join, and is counted to have joined; undefined if there is none. */
  find(sharingKey: string, name: string): Work | undefined {
    const work = this.#byKey.get(sharingKey)?.get(name)?.work;
    if (work === undefined || this.#options.now() - work.startedAt >= this.#options.joinWindowMs) return undefined;
    this.#joined += 1;
    return work;
  }

  /** Work that begins now can be found from now on, in the place of older work of the same name. */
  add(sharingKey: string, name: string, work: Work): void {
    const works = this.#worksOf(sharingKey);
    const place = { name, works, work };
    works.set(name, place);
    work.begin(place, this.#options.now());
  }

  /** Work of this key that began before now is joined no more: its caller reads its own writes. Its waiters stay. */
  invalidate(sharingKey: string): void {
    this.#byKey.get(sharingKey)?.clear();
  }

  #worksOf(sharingKey: string): Map<string, Place<Work>> {
    const known = this.#byKey.get(sharingKey);
    if (known !== undefined) return known;
    if (this.#byKey.size >= this.#sweepAt) this.#dropIdle();
    const works = new Map<string, Place<Work>>();
    this.#byKey.set(sharingKey, works);
    return works;
  }

  #dropIdle(): void {
    for (const [key, works] of this.#byKey) if (works.size === 0) this.#byKey.delete(key);
    // Twice what is left, so that keys with work are not looked through for every new one.
    this.#sweepAt = Math.max(mostIdle, 2 * this.#byKey.size);
  }
}

/**
 * Where work is found while it is under way; empty once it has ended. V8 keeps the old tables of a map that grows, with
 * what was in them, until a full garbage collection: works themselves would be kept with all that they hold.
 */
interface Place<Work> {
  readonly name: string;
  readonly works: Map<string, Place<Work>>;
  work: Work | undefined;
}

/** Work under way and those who wait for it. Subclasses know how it is done and what waiters get. */
export abstract class SharedWork<Waiter extends object> {
  #startedAt = 0;
  #place: Place<SharedWork<object>> | undefined;
  #waiters: Waiter[] = [];

  /** When it began, on the clock of its single flight. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Those who wait for it; none once it has ended. */
  get waiters(): readonly Waiter[] {
    return this.#waiters;
  }

  /** Its single flight has begun to share it. */
  begin(place: Place<SharedWork<object>>, startedAt: number): void {
    this.#place = place;
    this.#startedAt = startedAt;
  }

  /** One more waits for it. */
  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  /** One of those who wait gives up. The last one to leave cancels the work; one that leaves early harms no other. */
  leave(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index === -1) return;
    this.#waiters.splice(index, 1);
    if (this.#waiters.length > 0) return;
    this.end();
    this.cancel();
  }

  /** It is done, or given up: it can be joined no more. Returns those who wait for it. */
  end(): readonly Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    const place = this.#place;
    this.#place = undefined;
    if (place === undefined) return waiters;
    place.work = undefined;
    if (place.works.get(place.name) === place) place.works.delete(place.name);
    return waiters;
  }

  /** Stops the work: all who waited for it have left. */
  protected abstract cancel(): void;
}
