import { globSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** A piece of code in a page, between two lines of ```. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The mark in the comment before it: `not run: <why>` or `run by <test file>`. */
  readonly mark: string | undefined;
  /** The JSON block that follows it before any other: what it answers. */
  readonly answer: string | undefined;
}

/** The pages whose examples are run, by their paths in the repository. */
export const pages: readonly string[] = globSync(
  ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/*.md', 'examples/*/README.md', 'test/clients/README.md'],
  { cwd: root },
).toSorted();

/** The text of a file of the repository. */
export function textOf(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** The blocks of a page in their order, without the JSON that others answer. */
export function blocksOf(page: string): readonly Block[] {
  const found = [...textOf(page).matchAll(/(?:<!-- ((?:not run|run by)[^>]*) -->\n)?```(\w*)\n([\s\S]*?)```/g)];
  return found.flatMap(([, mark, language = '', text = ''], at) => {
    if (language === 'json') return [];
    const [, , following, answer] = found[at + 1] ?? [];
    return [{ language, text, mark, answer: following === 'json' ? answer : undefined }];
  });
}

/** The text of a chapter of a page, whose heading has so many #. */
export function chapterOf(page: string, heading: string): string {
  const text = textOf(page);
  const from = text.indexOf(`\n${heading}\n`);
  if (from === -1) throw new Error(`expected the heading ${heading} in ${page}`);
  const rest = text.slice(from + heading.length + 2);
  const level = heading.indexOf(' ');
  return rest.split(new RegExp(`\n#{1,${level}} `), 1)[0] ?? '';
}
