import { expect } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import type { Answer } from './gateway.ts';

/** The place and the code of each error: `project.name FORBIDDEN`; the code alone if there is no path. */
export function codesOf({ errors = [] }: Answer): string[] {
  return errors
    .map(({ path, extensions }) => [...(path === undefined ? [] : [path.join('.')]), String(extensions['code'])])
    .map((words) => words.join(' '))
    .toSorted();
}

/** `extensions.upstream` of the first error. */
export function factsOf({ errors = [] }: Answer): unknown {
  return errors[0]?.extensions['upstream'];
}

/** Nothing of what only the inside may know is in an answer: the texts given, stacks, addresses and markup. */
export function expectNothingLeaks({ body, headers }: Answer, ...secrets: readonly string[]): void {
  // A random id may hold anything.
  const all = `${body} ${JSON.stringify([...headers].filter(([name]) => name !== 'x-request-id'))}`;
  for (const secret of secrets) expect(all).not.toContain(secret);
  expect(all).not.toMatch(/<html|<!doctype|127\.0\.0\.1|localhost|node:internal|\.ts:\d|\\n {4}at |ECONN|undici/i);
}

/** The codes of the errors in the text of an answer, undefined for one without a code; none if there is no list. */
export function codesIn(body: string): unknown[] {
  const result: unknown = JSON.parse(body);
  const errors: unknown = isObject(result) ? result['errors'] : undefined;
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const extensions = isObject(error) ? error['extensions'] : undefined;
    return isObject(extensions) ? extensions['code'] : undefined;
  });
}
