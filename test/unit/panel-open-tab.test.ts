import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';

/** The value of an expression that runs after the panel's scripts, in such a page. */
function inPage(expression: string, page: { stored?: unknown; query?: string; token?: string; takesTokens?: boolean }) {
  const { stored = null, query, token = null, takesTokens = false } = page;
  const globals = {
    settings: { demoKey: 'phx_demo', takesTokens, graphiql: { defaultTabs: [{ query: 'first' }] } },
    window: { fetch: () => undefined },
    localStorage: { getItem: (name: string) => (name === 'graphiql:tabState' ? JSON.stringify(stored) : null) },
    sessionStorage: { getItem: () => token },
    location: { href: `http://127.0.0.1/graphql${query === undefined ? '' : `?query=${query}`}` },
    ...{ URL, result: '' },
  };
  runPanelScripts(
    ['../requests', '../tabs', 'open-tab'],
    `result = JSON.stringify(${expression}) ?? 'undefined'`,
    globals,
  );
  const parsed: unknown = JSON.parse(globals.result);
  return parsed;
}

const tabs = [{ query: 'one' }, { query: 'two' }];

test.each([
  ['the first example', {}, 'first'],
  ['the tab that was open', { stored: { tabs, activeTabIndex: 1 } }, 'two'],
  ['the tab with the query of the address', { stored: { tabs, activeTabIndex: 1 }, query: 'one' }, 'one'],
  ['a new one for another query of the address', { stored: { tabs, activeTabIndex: 1 }, query: 'other' }, 'other'],
])('before GraphiQL tells of a change, the open tab is %s', (_which, page, query) => {
  expect(inPage('storedTab()', page)).toMatchObject({ query });
});

const several = 'query One { a }\nquery Two { b }';

test.each([
  ['the first of a query of the address', { query: encodeURIComponent(`# query None\n${several}`) }, 'One'],
  [
    'the one that is stored',
    { stored: { tabs: [{ query: several, operationName: 'Two' }], activeTabIndex: 0 } },
    'Two',
  ],
  ['none of a tab that is stored without', { stored: { tabs: [{ query: several, operationName: null }] } }, null],
  [
    'none of an operation without a name',
    { query: encodeURIComponent('query ($id: ID) { query(id: $id) }') },
    undefined,
  ],
])('before GraphiQL tells of a change, the operation of the open tab is %s', (_which, page, operationName) => {
  expect(inPage('storedTab().operationName ?? null', page)).toBe(operationName ?? null);
});

test('a tab becomes the parameters of its plan, without a key', () => {
  const tab = {
    query: '{ a }',
    variables: ' { "b": 1 }',
    operationName: null,
    headers: '{ "Authorization": "Bearer c" }',
  };
  expect(inPage(`paramsOf(${JSON.stringify(tab)})`, { token: 'phx_kept' })).toEqual({
    ...{ query: '{ a }', variables: { b: 1 }, credentials: {} },
  });
  expect(inPage('paramsOf({ query: null, variables: "" })', {})).toEqual({ query: '', variables: {}, credentials: {} });
});

test('if the gateway takes tokens, a plan is asked for with that of the page, or of the tab', () => {
  const page = { token: 'kept', takesTokens: true };
  expect(inPage('paramsOf({})', page)).toMatchObject({ credentials: { authorization: 'Bearer kept' } });
  expect(inPage(`paramsOf({ headers: '{ "Authorization": "Bearer own", "x": "y" }' })`, page)).toMatchObject({
    credentials: { Authorization: 'Bearer own' },
  });
});

test.each(['{', '[1]', '1', '"a"'])('variables that are %s are no JSON object', (variables) => {
  expect(inPage(`paramsOf({ variables: ${JSON.stringify(variables)} })`, {})).toEqual({
    problem: 'The variables are no JSON object.',
  });
});

test('a text of comments alone is blank', () => {
  expect(inPage(String.raw`['', ' \n# a\n', '# a\n{ b }'].map(isBlank)`, {})).toEqual([true, true, false]);
});

test('a document is sent as it is written, with spaces in place of the operations that do not run', () => {
  const body = '# both\nquery Two {\n  ...Rest\n}\nquery One { a }\nfragment Rest on Query { b }';
  const definitions = parse(body).definitions.filter((_definition, index) => index !== 1);
  const located = definitions.map(({ loc }) => ({ loc: { start: loc?.start, end: loc?.end, source: { body } } }));
  expect(inPage(`printAsWritten({ definitions: ${JSON.stringify(located)} })`, {})).toBe(
    body.replace('# both', '      ').replace('query One { a }', ' '.repeat(15)),
  );
});
