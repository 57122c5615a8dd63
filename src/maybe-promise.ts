/** A value that may be there at once. */
export type MaybePromise<T> = Promise<T> | T;

/** Maps a value: at once if it is there, because each turn that a promise waits costs a small operation one percent. */
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => Promise<R>): Promise<R>;
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => MaybePromise<R>): MaybePromise<R>;
export function mapMaybePromise<T, R>(value: MaybePromise<T>, map: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(map) : map(value);
}
