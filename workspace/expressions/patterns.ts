import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { ExpressionError } from './problem.ts';

/** Tells whether a text matches, in time that grows with its length and the pattern's, never faster. */
export type Matcher = (text: string) => boolean;

/** Longest pattern, in characters. */
const maximumLength = 500;

/** Most instructions of a compiled pattern: repetitions such as `a{1000}` count in full. */
const maximumProgram = 2000;

/** Compiled patterns; a condition asks for its own again with each event. */
const matchers = new LRUCache<string, Matcher>({ max: 50 });

/** The matcher of a regular expression in RE2's syntax, which has neither lookaround nor back references. */
export function toMatcher(source: string): Matcher {
  checkLength(source);
  return remembered(source);
}

function checkLength(pattern: string): void {
  if (pattern.length > maximumLength)
    throw new ExpressionError(`expected a pattern of at most ${maximumLength} characters, but got ${pattern.length}.`);
}

function remembered(source: string): Matcher {
  const matcher = matchers.get(source) ?? compile(source);
  matchers.set(source, matcher);
  return matcher;
}

function compile(source: string): Matcher {
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(source);
  } catch {
    throw new ExpressionError(`expected a regular expression in RE2's syntax, but got "${source}".`);
  }
  if (pattern.programSize() > maximumProgram)
    throw new ExpressionError(`expected a smaller pattern than "${source}", with fewer repetitions.`);
  return (text) => pattern.test(text);
}

/** The matcher of a LIKE pattern: `%` stands for any text, `_` for any character, a backslash before either for itself. */
export function toLikeMatcher(pattern: string, ignoresCase: boolean): Matcher {
  checkLength(pattern);
  const parts = pattern.match(/\\[%_\\]|%+|_|[^%_\\]+|\\/g) ?? [];
  const source = parts.map(toRegularExpression).join('');
  return remembered(`(?s${ignoresCase ? 'i' : ''})^${source}$`);
}

function toRegularExpression(part: string): string {
  if (part.startsWith('%')) return '.*';
  if (part === '_') return '.';
  return RE2JS.quote(/^\\[%_\\]$/.test(part) ? part.slice(1) : part);
}
