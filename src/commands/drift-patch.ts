import { createTwoFilesPatch } from 'diff';
import { parseDocument } from 'yaml';
import { type Difference, type JsonType, typeOf } from '../rest/drift/compare.ts';
import { type Divergence, editFor } from './drift-edits.ts';

/** The file that a patch changes. */
const path = 'schema/rest.openapi.yaml';

/** The number of unchanged lines that a patch shows around a change. */
const contextLines = 2;

/** The most values of an enum. A column with more values is no enum. */
const mostValues = 20;

/**
 * A unified diff that makes an OpenAPI document fit answers with these differences. Lines that need no change keep
 * their form. Differences in unnamed parts of the document are left out.
 */
export function patchOf(openapi: string, differences: readonly Difference[]): string {
  const fitting = fit(openapi, differences);
  if (fitting === openapi) return '';
  const options = { context: contextLines };
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, openapi, fitting, undefined, undefined, options);
  return patch.replace(/^=+\n/, '');
}

/** The document with one difference after the other written into it. Each change sees the previous ones. */
function fit(openapi: string, differences: readonly Difference[]): string {
  return divergencesIn(differences).reduce((text, one) => {
    const edit = editFor(parseDocument(text), text, one);
    return edit === undefined ? text : text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  }, openapi);
}

/** Detail views come first, so that columns of list views can refer to theirs. */
function divergencesIn(differences: readonly Difference[]): readonly Divergence[] {
  const found = new Map<string, Divergence & { types: Set<JsonType>; values: Set<unknown> }>();
  for (const { kind, view, column, isItem, value } of differences) {
    const key = [kind, view, column, isItem].join(' ');
    const known = found.get(key) ?? { kind, view, column, isItem, types: new Set(), values: new Set() };
    found.set(key, known);
    if (value !== undefined) known.types.add(typeOf(value));
    if (known.values.size < mostValues) known.values.add(value);
  }
  const all = [...found.values()];
  return [...all.filter(({ view }) => !isListView(view)), ...all.filter(({ view }) => isListView(view))];
}

function isListView(view: string): boolean {
  return view.endsWith('ListItem');
}
