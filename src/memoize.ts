/** A function that works out each value once, and keeps it as long as the object that it is worked out from. */
export function memoize<Key extends object, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) {
      found = { value: find(key) };
      known.set(key, found);
    }
    return found.value;
  };
}
