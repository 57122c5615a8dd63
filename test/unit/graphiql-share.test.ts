import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';
import { runShell } from '../support/process.ts';

/** The value of an expression that scripts of the page make. */
function inPage(expression: string): unknown {
  const globals = { URLSearchParams, localStorage: {}, result: '' };
  runPanelScripts(['../tabs', '../share'], `result = JSON.stringify(${expression}) ?? 'null'`, globals);
  const value: unknown = JSON.parse(globals.result);
  return value;
}

const page = 'http://127.0.0.1:4000/graphql';

test.each([
  { query: '{ a }' },
  { query: 'query A($b: ID!) {\r\n\ta(b: $b) # "+ & # % é 😀"\n}', variables: '{ "b": "1 & 2" }', title: 'A tab' },
  { query: '', title: 'Empty' },
])('a link opens the tab %j as it was', (tab) => {
  const link = inPage(`linkOf(${JSON.stringify(tab)}, '${page}').text`);
  const { hash } = new URL(String(link));
  expect(inPage(`linkedTab(${JSON.stringify(hash)})`)).toEqual({ tab: { variables: null, ...tab } });
});

test('neither a link nor a command has headers or a key', () => {
  const tab = { query: '{ a }', headers: '{ "Authorization": "Bearer phx_secret", "x-tenant": "acme" }' };
  const made = JSON.stringify(
    inPage(`[linkOf(${JSON.stringify(tab)}, '${page}'), curlOf(${JSON.stringify(tab)}, '${page}')]`),
  );
  expect(made).not.toMatch(/phx_|acme|x-tenant/);
  expect(made).toContain('Bearer $TOKEN');
});

test.each([
  ['another fragment', '#section', null],
  ['a fragment without a query', '#variables=%7B%7D', null],
  ['no fragment', '', null],
  ['variables that are no JSON', '#query=%7B+a+%7D&variables=%7B', { problem: 'its variables are no JSON object.' }],
  ['variables that are a list', '#query=%7B+a+%7D&variables=%5B1%5D', { problem: 'its variables are no JSON object.' }],
  ['more than is opened', `#query=${'a'.repeat(100_000)}`, { problem: 'it is longer than 100,000 characters.' }],
  [
    'broken percent signs and a script',
    '#query=%zz%7B&name=%3Cscript%3Ealert(1)%3C%2Fscript%3E&headers=%7B%22a%22%3A1%7D',
    { tab: { query: '%zz{', variables: null, title: '<script>alert(1)</script>' } },
  ],
  [
    'a name of many lines',
    `#query=a&name=${encodeURIComponent(`\u202ea\nb\u2028c${'d'.repeat(1000)}`)}`,
    { tab: { query: 'a', variables: null, title: `abc${'d'.repeat(57)}` } },
  ],
])('a link with %s', (_what, fragment, opened) => {
  expect(inPage(`linkedTab(${JSON.stringify(fragment)})`)).toEqual(opened);
});

test('a tab that is too long, or whose variables are broken, has no link', () => {
  expect(inPage(`linkOf({ query: 'a'.repeat(100000) }, '${page}')`)).toEqual({
    problem: 'Its link would be longer than 100,000 characters.',
  });
  const problem = 'The variables are no JSON object.';
  expect(inPage(`linkOf({ query: 'a', variables: '{' }, '${page}')`)).toEqual({ problem });
  expect(inPage(`curlOf({ query: 'a', variables: '{' }, '${page}')`)).toEqual({ problem });
});

test('a command gives a shell the operation to the letter, and nothing to run', async () => {
  const query = `query A($b: String) { a(b: $b) } # it's \`id\` $(id) $HOME "\\" !!`;
  const tab = { query, variables: `{ "b": "'; id; '" }`, operationName: 'A', headers: '{ "explain": "plan" }' };
  const text = String(inPage(`curlOf(${JSON.stringify(tab)}, '${page}').text`));
  await using shell = runShell(`curl() { printf '%s\\n' "$@"; }\n${text}`, { TOKEN: 'phx_1' }, '.');
  expect(await shell.exit()).toBe(0);
  const words = shell.output().trimEnd().split('\n');
  const body: unknown = JSON.parse(words.pop() ?? '');
  expect(words).toEqual([
    '-s',
    page,
    '-H',
    'content-type: application/json',
    '-H',
    'authorization: Bearer phx_1',
    '-d',
  ]);
  expect(body).toEqual({
    ...{ query, variables: { b: "'; id; '" }, operationName: 'A' },
    extensions: { explain: 'plan', cost: true },
  });
});

test('a command for a subscription takes a stream as it comes', () => {
  const text = String(inPage(`curlOf({ query: 'subscription Tail { a }', operationName: 'Tail' }, '${page}').text`));
  expect(text).toMatch(/^curl -sN '/);
  expect(text).toContain("-H 'accept: text/event-stream'");
  expect(
    inPage(`curlOf({ query: 'query A { a }\\nsubscription B { b }', operationName: 'A' }, '${page}').text`),
  ).toMatch(/^curl -s '/);
});
