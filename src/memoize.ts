/** Memoizes a function of an object. Each result is kept as long as its object. */
export function memoize<Key extends object, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Memo<Key, Value>>();
  // The last result. The resolvers of a list's rows call the function with the same key, one after the other.
  let last: Memo<Key, Value> | undefined;
  return (key) => {
    if (last?.key === key) return last.value;
    let found = known.get(key);
    if (found === undefined) {
      found = { key, value: find(key) };
      known.set(key, found);
    }
    last = found;
    return found.value;
  };
}

interface Memo<Key, Value> {
  readonly key: Key;
  readonly value: Value;
}
