import { ExpressionError } from './problem.ts';
import { type Token, toTokens } from './tokens.ts';

/** A position in an expression. Keywords are taken in any case. */
export interface Reader {
  /** The next token; the end, again and again, behind the last. */
  readonly peek: () => Token;
  readonly take: () => Token;
  /** Takes the next token if it is this symbol, and tells whether it did. */
  readonly takeSymbol: (symbol: string) => boolean;
  /** Takes the next token if it is this keyword, and tells whether it did. */
  readonly takeWord: (word: string) => boolean;
  readonly takeName: () => string;
  readonly expectSymbol: (symbol: string) => void;
  /** The error to throw if the next token cannot stand here. */
  readonly unexpected: (expected: string) => ExpressionError;
}

/** Starts at the first token of `text`. */
export function createReader(text: string): Reader {
  const tokens = toTokens(text);
  let at = 0;
  const peek = (): Token => tokens[at] ?? { kind: 'end', text: '' };
  const take = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };
  const takeIf = (matches: boolean): boolean => {
    if (matches) at += 1;
    return matches;
  };
  const takeSymbol = (symbol: string): boolean => takeIf(peek().kind === 'symbol' && peek().text === symbol);
  const unexpected = (expected: string): ExpressionError => {
    const { kind, text: found } = peek();
    return new ExpressionError(`expected ${expected}, but got ${kind === 'end' ? 'the end' : `"${found}"`}.`);
  };
  return {
    peek,
    take,
    takeSymbol,
    takeWord: (word) => takeIf(peek().kind === 'name' && peek().text.toLowerCase() === word),
    takeName: () => {
      if (peek().kind !== 'name' && peek().kind !== 'quotedName') throw unexpected('a name');
      return take().text;
    },
    expectSymbol: (symbol) => {
      if (!takeSymbol(symbol)) throw unexpected(`"${symbol}"`);
    },
    unexpected,
  };
}
