import type { EventRow } from '../events/rows.ts';
import { functions } from './functions.ts';
import type { Node } from './parse.ts';
import { ExpressionError, present } from './problem.ts';
import { timeOf } from './values.ts';

/** The value of a node for one event; times are bigints. */
type Evaluate = (event: EventRow) => unknown;

/** Looks up columns and functions once, so that only values are left to find for each event. */
export function compile(node: Node): Evaluate {
  switch (node.kind) {
    case 'literal':
      return () => node.value;
    case 'column':
      return present(columns.get(node.name), `there is no column "${node.name}".`);
    case 'list': {
      const items = node.items.map(compile);
      return (event) => items.map((item) => item(event));
    }
    case 'call':
      return compileCall(node.name, node.args.map(compile));
    default:
      return node satisfies never;
  }
}

function compileCall(name: string, args: readonly Evaluate[]): Evaluate {
  const { apply, least, most } = present(functions.get(name), `there is no function "${name}" of one event.`);
  if (args.length < least || args.length > most)
    throw new ExpressionError(`expected ${range(least, most)} for ${name}, but got ${args.length}.`);
  return (event) => apply(...args.map((arg) => arg(event)));
}

function range(least: number, most: number): string {
  if (least === most) return `${least} arguments`;
  return most === Number.POSITIVE_INFINITY ? `at least ${least} arguments` : `${least} to ${most} arguments`;
}

const columns: ReadonlyMap<string, Evaluate> = new Map<string, Evaluate>([
  ['*', (event) => event],
  ['id', ({ id }) => id],
  ['uuid', ({ id }) => id],
  ['event', ({ event }) => event],
  ['distinct_id', ({ distinct_id: id }) => id],
  ['timestamp', ({ timestamp }) => timeOf(timestamp) ?? null],
  ['properties', ({ properties }) => properties],
  ['person', ({ person }) => person],
  ['person_id', ({ person }) => person?.uuid ?? null],
  ['elements', ({ elements }) => elements],
  ['elements_chain', ({ elements_chain: chain }) => chain],
]);
