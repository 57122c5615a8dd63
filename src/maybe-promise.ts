/** A value, or a promise of it. */
export type MaybePromise<T> = Promise<T> | T;

/**
 * Maps a value, or what a promise resolves to. A value that is there already is mapped without a promise, because each
 * wait for a promise adds one percent to the cost of a small operation.
 */
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => Promise<R>): Promise<R>;
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => MaybePromise<R>): MaybePromise<R>;
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(map) : map(value);
}
