/** The facts in an answer, whatever the schema: two gateways answered the same if their facts are equal. */
import { isObject } from '../../src/rest/values.ts';
import type { Json } from '../../test/support/replies.ts';

/** Objects whose members are told of the object that holds them. */
const transparent: ReadonlySet<string> = new Set(['organization', 'detail']);

/** The facts of an answer's `data`: lists as arrays, ids as texts, enum values in lower case. */
export function factsOf(value: unknown, name = ''): Json {
  if (Array.isArray(value)) return value.map((item) => factsOf(item, name));
  if (isObject(value)) return isList(value) ? factsOf(value['nodes'] ?? value['results']) : factsOfObject(value);
  if (typeof value === 'number' && /(^id|Id)$/.test(name)) return `${value}`;
  if (typeof value === 'string') return name === 'pluginType' ? value.toLowerCase() : value;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new Error(`expected JSON but got ${typeof value}`);
}

/** Says of a dashboard opened beside its project which project it is in: the client knows, and need not ask. */
export function completeKnown(data: unknown): unknown {
  if (!isObject(data) || !isObject(data['project'])) return data;
  const { name, timezone, opened } = data['project'];
  const complete = isObject(opened) ? { ...opened, project: { name, timezone } } : opened;
  return { ...data, project: { ...data['project'], opened: complete } };
}

function factsOfObject(object: Readonly<Record<string, unknown>>): Json {
  const members = Object.entries(object).flatMap(([name, value]) => {
    if (transparent.has(name) && isObject(value)) return Object.entries(value);
    return [[name, value] as const];
  });
  const facts = members.map(([name, value]) => [name === 'totalCount' ? 'count' : name, factsOf(value, name)] as const);
  return Object.fromEntries(facts);
}

function isList(object: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(object['nodes'] ?? object['results']);
}
