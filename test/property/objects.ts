import { isObject } from '../../src/rest/values.ts';

/** Fields whose values are JSON: what is inside them does not count. */
const jsonFields = /^(?:tiles|rows|name|pluginExports|body|detail)/;

/** The number of objects in the data of an answer, below the data itself. */
export function objectsIn(data: unknown): number {
  if (Array.isArray(data))
    return data.reduce<number>((sum, item) => sum + objectsIn(item) + (isObject(item) ? 1 : 0), 0);
  if (!isObject(data)) return 0;
  const members = Object.entries(data).filter(([name]) => !jsonFields.test(name));
  return members.reduce((sum, [, value]) => sum + objectsIn(value) + (isObject(value) ? 1 : 0), 0);
}
