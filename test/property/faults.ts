import { UpstreamError } from '../../src/rest/errors.ts';
import type { JsonObject, Row } from '../../src/rest/values.ts';
import * as rows from '../support/rows.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Values that an upstream might send for a column of any type; most of them fit no other type. */
const values: readonly unknown[] = [
  null,
  0,
  7,
  -1.5,
  2 ** 40,
  '',
  'text',
  'POSTHOG',
  true,
  [],
  [null],
  ['a', 1, null],
  {},
  { id: 1, first_name: 'Ida', uuid: 5, email: null },
  { toString: 1 },
  JSON.parse('{"__proto__": {"name": "x"}}'),
  JSON.rawJSON('12345678901234567890'),
];

/** A world whose rows have every column, some of them with anything in it, and some rows no id. */
export function spoiled(world: World, random: Random): World {
  const lists = [...world.lists].map(
    ([path, list]) => [path, list.map((row) => spoiledRow(path, row, random))] as const,
  );
  return { lists: new Map(lists) };
}

function spoiledRow(path: string, row: Row, random: Random): Row {
  const whole: Record<string, unknown> = { ...sampleOf(path), ...row };
  if (random.once(3)) {
    const names = Object.keys(whole);
    for (let left = random.number(1, 8); left > 0; left -= 1) whole[random.pick(names)] = random.pick(values);
  }
  // The only columns whose fields are not nullable.
  if (random.once(12)) whole['id'] = random.pick(values);
  return whole;
}

function sampleOf(path: string): JsonObject {
  if (path.endsWith('/dashboards/')) return rows.dashboard(1);
  if (path.endsWith('/events/')) return rows.event(1);
  return path.endsWith('/plugins/') ? rows.plugin(1) : rows.project(1);
}

const codes = [
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_INVALID_RESPONSE',
] as const;

/** The error of every call to a path, whatever its query; undefined for paths that answer. */
export type FailureOf = (path: string) => UpstreamError | undefined;

/** Lets one path in `times` fail, the same ones always. */
export function failuresOf(random: Random, times: number): FailureOf {
  const salt = random.number(0, 2 ** 20);
  return (path) => {
    const number = hashOf(`${salt}${path}`);
    const code = codes[number % codes.length];
    return number % times === 0 && code !== undefined ? new UpstreamError(code, { status: 400 }) : undefined;
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return hash >>> 8;
}
