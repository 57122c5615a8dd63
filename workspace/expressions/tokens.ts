import { ExpressionError } from './problem.ts';

/** A word of an expression. Literals have their value as text, the end an empty text. */
export interface Token {
  readonly kind: 'number' | 'text' | 'name' | 'quotedName' | 'symbol' | 'end';
  readonly text: string;
}

/** Longest expression, in characters: what it costs to read and to carry out grows with it. */
const maximumLength = 2000;

const patterns: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
  ['name', /[A-Za-z_$][\w$]*/y],
  ['text', /'(?:[^'\\]|\\.|'')*'/sy],
  ['quotedName', /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/sy],
  ['symbol', /[=!<>]=|<>|[=!]~|[=<>()[\],.+\-*/%]/y],
];

/** Splits an expression into its tokens, of which the last is the end. */
export function toTokens(text: string): readonly Token[] {
  if (text.length > maximumLength)
    throw new ExpressionError(`expected at most ${maximumLength} characters, but got ${text.length}.`);
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const [token, end] = tokenAt(text, at);
    tokens.push(token);
    at = skipSpace(text, end);
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function tokenAt(text: string, at: number): [Token, end: number] {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) return [{ kind, text: valueOf(kind, found) }, at + found.length];
  }
  throw new ExpressionError(`expected a word, a literal or an operator, but got "${text.slice(at, at + 10)}".`);
}

/** The text between the quotes; a backslash or a second quote keeps a quote from ending it. */
function valueOf(kind: Token['kind'], found: string): string {
  if (kind !== 'text' && kind !== 'quotedName') return found;
  const inner = found.slice(1, -1).replaceAll(/\\(.)/gs, '$1');
  return kind === 'text' ? inner.replaceAll("''", "'") : inner;
}

function skipSpace(text: string, at: number): number {
  const space = /\s*/y;
  space.lastIndex = at;
  space.exec(text);
  return space.lastIndex;
}
