import { invalid } from '../errors.ts';
import type { EventRow } from '../events/rows.ts';
import { compile } from './compile.ts';
import { parse } from './parse.ts';
import { ExpressionError } from './problem.ts';
import { toAnswer } from './values.ts';

/** The value that an expression has for one event, as JSON. */
export type Expression = (event: EventRow) => unknown;

/** An expression of `select`. */
export interface Column {
  /** The name that follows `as`, or the expression as it was written. */
  readonly name: string;
  readonly valueOf: Expression;
}

/**
 * Reads one expression of `where`: columns, properties, literals, functions, and `and or not in ( )` with the usual
 * comparisons and arithmetic, as in the query language of the known deployment. `attr` is the parameter that is at fault
 * if it cannot be read or has no value.
 */
export function toExpression(text: string, attr: string): Expression {
  return toColumn(text, attr).valueOf;
}

/** Reads one expression of `select`, which may be followed by `as` and a name. */
export function toColumn(text: string, attr: string): Column {
  const tell = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof ExpressionError) throw invalid(attr, `Cannot read "${text}": ${error.message}`);
      throw error;
    }
  };
  const { node, alias } = tell(() => parse(text));
  const evaluate = tell(() => compile(node));
  return { name: alias ?? text, valueOf: (event) => tell(() => toAnswer(evaluate(event))) };
}
