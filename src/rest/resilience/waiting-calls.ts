/** A call that waits, and the user of its tenant that it waits for: empty if callers bring their own key. */
export interface WaitingCall {
  readonly user: string;
}

/** The calls of one caller that wait. Users take turns, and the calls of each go in their order. */
export class WaitingCalls<Call extends WaitingCall> {
  /** Users in the order of their turns. */
  readonly #byUser = new Map<string, Set<Call>>();
  #size = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** How many wait for a user. */
  sizeOf(user: string): number {
    return this.#byUser.get(user)?.size ?? 0;
  }

  add(call: Call): void {
    const calls = this.#byUser.get(call.user);
    if (calls === undefined) this.#byUser.set(call.user, new Set([call]));
    else calls.add(call);
    this.#size += 1;
  }

  has(call: Call): boolean {
    return this.#byUser.get(call.user)?.has(call) === true;
  }

  delete(call: Call): void {
    const calls = this.#byUser.get(call.user);
    if (calls?.delete(call) !== true) return;
    this.#size -= 1;
    if (calls.size === 0) this.#byUser.delete(call.user);
  }

  /** Takes the call whose turn it is; the next turn is another user's. */
  take(): Call | undefined {
    const [next] = this.#byUser;
    if (next === undefined) return undefined;
    const [user, calls] = next;
    const [call] = calls;
    if (call === undefined) return undefined;
    this.delete(call);
    this.passTurn(user);
    return call;
  }

  /** A user has had a turn: the others come first. */
  passTurn(user: string): void {
    const calls = this.#byUser.get(user);
    if (calls !== undefined && this.#byUser.delete(user)) this.#byUser.set(user, calls);
  }

  /** All that wait now. */
  all(): readonly Call[] {
    return [...this.#byUser.values()].flatMap((calls) => [...calls]);
  }

  /** All that wait now, in the order of their turns. */
  inTurns(): readonly Call[] {
    return alternate([...this.#byUser.values()].map((calls) => [...calls]));
  }
}

/** One of each list in turn, until none is left. */
export function alternate<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const all: T[] = [];
  for (let at = 0; at < longest; at += 1) {
    for (const list of lists) {
      const one = list[at];
      if (one !== undefined) all.push(one);
    }
  }
  return all;
}
