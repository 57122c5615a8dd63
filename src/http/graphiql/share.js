/**
 * Runs in the page: turns a tab into a link, and into a command for a terminal. Neither includes the tab's headers or a
 * key.
 */

/**
 * The most characters of a link that is made or opened. Links are limited because the browser stores the linked tab.
 */
const mostLink = 100_000;
const longest = '100,000 characters';

/** Most characters of the name of a tab. */
const mostName = 60;

/** The link that opens the page at `address` with a tab of the same name, query and variables; or why there is none. */
function linkOf({ query, variables, title }, address) {
  const hasVariables = Boolean(variables?.trim());
  if (objectOf(variables) === undefined) return { problem: 'The variables are no JSON object.' };
  const params = new URLSearchParams({
    query: query ?? '',
    ...(hasVariables && { variables }),
    ...(title && { name: title }),
  });
  const text = `${address}#${params}`;
  if (text.length > mostLink) return { problem: `Its link would be longer than ${longest}.` };
  return { text };
}

/** The tab in the fragment of an address, or why the tab is not opened; undefined if the fragment has no tab. */
function linkedTab(fragment) {
  if (!fragment.startsWith('#query=')) return undefined;
  if (fragment.length > mostLink) return { problem: `it is longer than ${longest}.` };
  const params = new URLSearchParams(fragment.slice(1));
  const query = params.get('query');
  const variables = params.get('variables');
  if (objectOf(variables) === undefined) return { problem: 'its variables are no JSON object.' };
  return { tab: { query, variables, title: nameIn(params.get('name') ?? '') } };
}

/** A name of a tab as one short line; undefined if nothing is left of it. */
function nameIn(text) {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...line].slice(0, mostName).join('') || undefined;
}

/** A command that sends what a tab holds, with the key or token of the variable `TOKEN`; or why there is none. */
function curlOf({ query, variables, operationName, headers }, endpoint) {
  const values = objectOf(variables);
  if (values === undefined) return { problem: 'The variables are no JSON object.' };
  const { explain } = objectOf(headers) ?? {};
  const extensions = explain === undefined ? undefined : { explain, cost: true };
  const isStream = isSubscription(query ?? '', operationName);
  const options = [
    "-H 'content-type: application/json'",
    ...(isStream ? ["-H 'accept: text/event-stream'"] : []),
    '-H "authorization: Bearer $TOKEN"',
    `-d ${quoted(JSON.stringify({ query, variables: values, operationName: operationName ?? undefined, extensions }))}`,
  ];
  return { text: [`curl -s${isStream ? 'N' : ''} ${quoted(endpoint)}`, ...options].join(' \\\n  ') };
}

function isSubscription(query, operationName) {
  const name = operationName ? `\\s+${operationName}\\b` : '\\b';
  return new RegExp(`^\\s*subscription${name}`, 'm').test(query);
}

/** A text as one word of a shell. */
function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
