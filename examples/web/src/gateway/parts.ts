import type { AnswerError } from './GatewayError.ts';

/** One part of an answer, as https://specs.apollo.dev/incremental/v0.2 has it; one that comes as a whole is its first part. */
export interface Part<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly AnswerError[];
  /** The places for which something is to come. */
  readonly pending?: readonly { readonly id: string; readonly path: Path }[];
  /** Data that has come for some of them. */
  readonly incremental?: readonly {
    readonly id: string;
    readonly subPath?: Path;
    readonly data?: object;
    readonly errors?: readonly AnswerError[];
  }[];
  /** The places for which nothing more is to come; errors say why nothing came. */
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly AnswerError[] }[];
  readonly hasNext?: boolean;
}

type Path = readonly (string | number)[];

/** The places for which something is to come, by their ids. */
export type Places = Map<string, Path>;

/** Notes the places that a part announces. */
export function notePlaces(places: Places, { pending = [] }: Part<unknown>): void {
  for (const { id, path } of pending) places.set(id, path);
}

/** A copy of `data` that has what a part brings. */
export function withPart<Data>(data: Data, { incremental = [] }: Part<unknown>, places: Places): Data {
  const copy = structuredClone(data);
  for (const { id, subPath = [], data: brought } of incremental) {
    const place = [...(places.get(id) ?? []), ...subPath].reduce<unknown>(memberOf, copy);
    if (brought !== undefined) mergeInto(place, brought);
  }
  return copy;
}

/** The errors of a part. */
export function errorsOf({ errors = [], incremental = [], completed = [] }: Part<unknown>): readonly AnswerError[] {
  return [...errors, ...[...incremental, ...completed].flatMap((one) => one.errors ?? [])];
}

function mergeInto(target: unknown, brought: object): void {
  if (!isObject(target)) return;
  for (const [name, value] of Object.entries(brought)) {
    const known = memberOf(target, name);
    if (isObject(known) && isObject(value)) mergeInto(known, value);
    else Reflect.set(target, name, value);
  }
}

function memberOf(value: unknown, name: string | number): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
