import { ExpressionError } from './problem.ts';
import { createReader, type Reader } from './reader.ts';

/** An expression. Operators are calls of the functions that they stand for: `a = b` is `equals(a, b)`. */
export type Node =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] };

/** An expression, and the name that follows `as`. */
export interface Parsed {
  readonly node: Node;
  readonly alias: string | undefined;
}

/** Deepest nesting of parentheses, lists and calls: reading and carrying out go down as deep. */
const maximumDepth = 50;

/** Reads an expression, and the alias that may follow it. Throws an ExpressionError that says what was expected. */
export function parse(text: string): Parsed {
  const reader = createReader(text);
  const node: Node = reader.takeSymbol('*') ? { kind: 'column', name: '*' } : readExpression(reader, 0);
  const alias = reader.takeWord('as') ? reader.takeName() : undefined;
  if (reader.peek().kind !== 'end') throw reader.unexpected('the end');
  return { node, alias };
}

function call(name: string, ...args: readonly Node[]): Node {
  return { kind: 'call', name, args };
}

function readExpression(reader: Reader, depth: number): Node {
  if (depth > maximumDepth) throw new ExpressionError(`expected at most ${maximumDepth} levels.`);
  let node = readConjunction(reader, depth);
  while (reader.takeWord('or')) node = call('or', node, readConjunction(reader, depth));
  return node;
}

function readConjunction(reader: Reader, depth: number): Node {
  let node = readNegation(reader, depth);
  while (reader.takeWord('and')) node = call('and', node, readNegation(reader, depth));
  return node;
}

function readNegation(reader: Reader, depth: number): Node {
  return reader.takeWord('not') ? call('not', readNegation(reader, depth)) : readComparison(reader, depth);
}

const comparisons: ReadonlyMap<string, string> = new Map([
  ['=', 'equals'],
  ['==', 'equals'],
  ['!=', 'notEquals'],
  ['<>', 'notEquals'],
  ['<', 'less'],
  ['<=', 'lessOrEquals'],
  ['>', 'greater'],
  ['>=', 'greaterOrEquals'],
  ['=~', 'match'],
]);

/** One comparison at most: `a = b = c` is not an expression. */
function readComparison(reader: Reader, depth: number): Node {
  const left = readSum(reader, depth);
  const symbol = reader.peek().kind === 'symbol' ? reader.peek().text : '';
  const name = comparisons.get(symbol);
  if (name !== undefined || symbol === '!~') {
    reader.take();
    const right = readSum(reader, depth);
    return name === undefined ? call('not', call('match', left, right)) : call(name, left, right);
  }
  if (reader.takeWord('is')) return readNullTest(reader, left);
  if (!reader.takeWord('not')) return readWordComparison(reader, left, depth) ?? left;
  const compared = readWordComparison(reader, left, depth);
  if (compared === undefined) throw reader.unexpected('"in", "like", "ilike" or "between"');
  return call('not', compared);
}

function readNullTest(reader: Reader, left: Node): Node {
  const name = reader.takeWord('not') ? 'isNotNull' : 'isNull';
  if (!reader.takeWord('null')) throw reader.unexpected('"null"');
  return call(name, left);
}

function readWordComparison(reader: Reader, left: Node, depth: number): Node | undefined {
  for (const name of ['in', 'like', 'ilike'])
    if (reader.takeWord(name)) return call(name, left, readSum(reader, depth));
  if (!reader.takeWord('between')) return undefined;
  const low = readSum(reader, depth);
  if (!reader.takeWord('and')) throw reader.unexpected('"and"');
  return call('and', call('greaterOrEquals', left, low), call('lessOrEquals', left, readSum(reader, depth)));
}

function readSum(reader: Reader, depth: number): Node {
  let node = readProduct(reader, depth);
  for (;;) {
    if (reader.takeSymbol('+')) node = call('plus', node, readProduct(reader, depth));
    else if (reader.takeSymbol('-')) node = call('minus', node, readProduct(reader, depth));
    else return node;
  }
}

function readProduct(reader: Reader, depth: number): Node {
  let node = readSigned(reader, depth);
  for (;;) {
    if (reader.takeSymbol('*')) node = call('multiply', node, readSigned(reader, depth));
    else if (reader.takeSymbol('/')) node = call('divide', node, readSigned(reader, depth));
    else if (reader.takeSymbol('%')) node = call('modulo', node, readSigned(reader, depth));
    else return node;
  }
}

function readSigned(reader: Reader, depth: number): Node {
  return reader.takeSymbol('-') ? call('negate', readSigned(reader, depth)) : readMembers(reader, depth);
}

/** `a.b` and `a['b']`. */
function readMembers(reader: Reader, depth: number): Node {
  let node = readPrimary(reader, depth);
  for (;;) {
    if (reader.takeSymbol('.')) {
      node = call('member', node, { kind: 'literal', value: reader.takeName() });
    } else if (reader.takeSymbol('[')) {
      node = call('member', node, readExpression(reader, depth + 1));
      reader.expectSymbol(']');
    } else {
      return node;
    }
  }
}

const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function readPrimary(reader: Reader, depth: number): Node {
  const { kind, text } = reader.peek();
  if (kind === 'number' || kind === 'text') {
    reader.take();
    return { kind: 'literal', value: kind === 'number' ? Number(text) : text };
  }
  if (reader.takeSymbol('(')) return readParentheses(reader, depth);
  if (reader.takeSymbol('[')) return { kind: 'list', items: readItems(reader, ']', depth) };
  if (kind === 'name' && constants.has(text.toLowerCase())) {
    reader.take();
    return { kind: 'literal', value: constants.get(text.toLowerCase()) };
  }
  if (reader.takeWord('interval')) return readInterval(reader, depth);
  const name = reader.takeName();
  return reader.takeSymbol('(') ? call(name, ...readItems(reader, ')', depth)) : { kind: 'column', name };
}

/** `interval 7 day` is `toIntervalDay(7)`. */
function readInterval(reader: Reader, depth: number): Node {
  const count = readSigned(reader, depth + 1);
  const unit = reader.takeName().toLowerCase();
  return call(`toInterval${unit.slice(0, 1).toUpperCase()}${unit.slice(1)}`, count);
}

/** One expression in parentheses is that expression, several are a list. */
function readParentheses(reader: Reader, depth: number): Node {
  const items = readItems(reader, ')', depth);
  const [only] = items;
  return only !== undefined && items.length === 1 ? only : { kind: 'list', items };
}

function readItems(reader: Reader, end: ')' | ']', depth: number): Node[] {
  const items: Node[] = [];
  if (reader.takeSymbol(end)) return items;
  do items.push(readExpression(reader, depth + 1));
  while (reader.takeSymbol(','));
  reader.expectSymbol(end);
  return items;
}
