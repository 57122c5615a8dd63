import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';
import { itemsIn } from './plugin-results.ts';

// The contract shows the answer of `events/values/` as if it were an event. Upstreams answer an array of
// `{"name": …}`, or `{"results": […], "refreshing": …}`.

/** The values of an answer, each an object: any other value is its own `name`. Null for an answer of another shape. */
export function eventValuesIn(body: unknown): JsonObject[] | null {
  const items = itemsIn(body);
  return items?.map((item) => (isEntry(item) ? item : { name: item })) ?? null;
}

/** Whether the upstream says that it is still looking for values; null if it does not say. */
export function refreshingIn(body: unknown): boolean | null {
  const refreshing = isObject(body) ? body['refreshing'] : undefined;
  return typeof refreshing === 'boolean' ? refreshing : null;
}

/** Whether a value is an object, and no number that is kept as text. */
function isEntry(item: unknown): item is JsonObject {
  return isObject(item) && exactDigits(item) === undefined;
}
