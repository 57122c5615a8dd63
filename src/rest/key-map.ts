import { RecentMap } from '../recent-map.ts';

/** The maximum number of proven keys, and of unproven ones: more than are used within a short time. */
const mostKeys = 10_000;

/**
 * Values by upstream key. A key is proven once the upstream has shown that it knows the key. Unproven keys have a list
 * of their own, so that keys that callers invent never evict proven ones.
 */
export class KeyMap<Value extends number | object | string | symbol> {
  readonly #proven = new RecentMap<string, Value>({ entries: mostKeys });
  readonly #unproven = new RecentMap<string, Value>({ entries: mostKeys });

  get size(): number {
    return this.#proven.size + this.#unproven.size;
  }

  get proven(): readonly Value[] {
    return [...this.#proven.values()];
  }

  /** Proven ones first. */
  get keys(): readonly string[] {
    return [...this.#proven.keys(), ...this.#unproven.keys()];
  }

  isProven(key: string): boolean {
    return this.#proven.has(key);
  }

  get(key: string): Value | undefined {
    return this.#proven.get(key) ?? this.#unproven.get(key);
  }

  /** Sets the value of a key, and makes the key proven if `isProven` is true. A proven key stays proven. */
  set(key: string, value: Value, isProven = false): void {
    if (isProven) this.#unproven.delete(key);
    (isProven || this.#proven.has(key) ? this.#proven : this.#unproven).set(key, value);
  }

  delete(key: string): void {
    this.#proven.delete(key);
    this.#unproven.delete(key);
  }

  /** Makes a key proven. Returns its value if it was not proven before. */
  prove(key: string): Value | undefined {
    const value = this.#unproven.peek(key);
    if (value === undefined) return undefined;
    this.#unproven.delete(key);
    this.#proven.set(key, value);
    return value;
  }

  clear(): void {
    this.#proven.clear();
    this.#unproven.clear();
  }
}
