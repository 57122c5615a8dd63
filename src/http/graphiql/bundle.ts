import { js } from '@graphql-yoga/render-graphiql/graphiql';

/**
 * GraphiQL's script with the history plugin. Yoga's bundle replaces GraphiQL's list of plugins by the explorer alone,
 * which removes the history. If the page has the panel "REST calls", the panel's plugin `restCalls` is added, and
 * `panel.trace` wraps GraphiQL's fetcher.
 */
export function bundleWith(hasPanel: boolean): string {
  const history = /\b(\w+)=\{title:"History"/.exec(js)?.[1];
  if (history === undefined) throw new Error('expected the history plugin in the GraphiQL bundle');
  const own = hasPanel ? `restCalls,${history}` : history;
  return [
    [/plugins:\[(\w+)\],schemaDescription/g, `plugins:[${own},$1],schemaDescription`] as const,
    ...errorsAsTheyAre,
    ...(hasPanel ? [[/fetcher:(\w+),children/g, 'fetcher:panel.trace($1),children'] as const] : []),
  ].reduce((text, [pattern, replacement]) => replaceOnce(text, pattern, replacement), js);
}

/**
 * Replacements for the two places at which the bundle changes errors. The first place adds a stack to errors that arise
 * in the bundle itself. The second place drops `locations` from the errors in answers.
 */
const errorsAsTheyAre = [
  [
    /return \w+\(\w+\(\{\},(\w+)\),\{message:\1\.message,stack:\1\.stack\}\)/g,
    'return $1.toJSON?.()??{message:$1.message}',
  ],
  [
    /Array\.isArray\((\w+)\.errors\)\?\{\.\.\.\1,errors:\1\.errors\.map\(\(\{message:(\w+),\.\.\.(\w+)\}\)=>\w+\(\2,\3\)\)\}:\1/g,
    '$1',
  ],
] as const;

function replaceOnce(text: string, pattern: RegExp, replacement: string): string {
  const count = [...text.matchAll(pattern)].length;
  if (count !== 1) throw new Error(`expected ${pattern.source} once in the GraphiQL bundle, but got it ${count} times`);
  return text.replace(pattern, replacement);
}
