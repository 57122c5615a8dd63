import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';

/** The panel of GraphiQL as it shows a plan and a run. */
function shownOf(plan: object, run?: object, limits = { calls: 150, rows: 10_000, objects: 50_000 }): unknown {
  const globals = { plan, limits, run, shown: '' };
  runPanelScripts(['rows', 'summary'], 'shown = JSON.stringify(shownOf(plan, limits, run))', globals);
  return JSON.parse(globals.shown);
}

const list = { method: 'GET', path: '/api/projects/{project_id}/dashboards/', paths: ['project.dashboards'] };
const row = { method: 'GET', path: '/api/projects/{project_id}/dashboards/{id}/', paths: ['project.dashboards.nodes'] };
const plan = {
  calls: [
    { ...list, lower: 1, upper: 1, wave: 1 },
    { ...row, lower: 0, upper: 2, wave: 2 },
  ],
  ...{ lower: 1, upper: 3, rows: 4, objects: 5, waves: 2, hints: ['`tiles` is expensive', 'another'] },
};

/** A call that a run made. */
function made(path: string, wave: number, changes: object = {}): object {
  return { method: 'GET', path, status: 200, milliseconds: 12.3, wave, shared: false, ...changes };
}

test('a plan is shown as measures beside their limits, waves, and rows with the range of their calls', () => {
  expect(shownOf(plan)).toEqual({
    measures: [
      { name: 'REST calls', text: '1–3', most: 3, limit: 150, share: 0.02, isOver: false },
      { name: 'Rows', text: '4', most: 4, limit: 10_000, share: 0.0004, isOver: false },
      { name: 'Objects', text: '5', most: 5, limit: 50_000, share: 0.0001, isOver: false },
    ],
    excesses: [],
    told: '1–3 REST calls in 2 waves.',
    waves: [1, 2],
    moreWaves: 0,
    rows: [
      { id: 'planned 0', wave: 1, method: 'GET', path: list.path, use: 'for project.dashboards', planned: '1' },
      { id: 'planned 1', wave: 2, method: 'GET', path: row.path, use: 'for project.dashboards.nodes', planned: '0–2' },
    ],
    moreRows: 0,
    budget: [],
    hints: [['', 'tiles', ' is expensive'], ['another']],
    moreHints: 0,
  });
});

test('a plan over a limit says which, by how much, and that it is refused', () => {
  expect(shownOf({ ...plan, upper: 3000 }, undefined, { calls: 150, rows: 3, objects: 5 })).toMatchObject({
    excesses: [
      'Over the limit of 150 REST calls: it may take 3,000, so it is refused before its first call.',
      'Over the limit of 3 rows: it may take 4, so it is refused before its first call.',
    ],
    told: '1–3,000 REST calls in 2 waves, over the limit.',
    measures: [{ isOver: true, share: 1 }, { isOver: true, share: 1 }, { isOver: false }],
  });
});

test.each([
  [{ firstPartAfter: 1, waves: 3 }, '1–3 REST calls in 3 waves. The first part is sent after wave 1 of 3.'],
  [{ firstPartAfter: 0, waves: 1 }, '1–3 REST calls, sent together. The first part needs no call.'],
  [{ calls: [], lower: 0, upper: 0, waves: 0 }, 'No REST call.'],
])('the plan %j is told as one sentence', (changes, told) => {
  expect(shownOf({ ...plan, ...changes })).toMatchObject({ told });
});

test('calls of a run stand in the rows that planned them, with time, status, cache, sharing and second tries', () => {
  const calls = [
    made('/base/api/projects/1/dashboards/?limit=2', 1, { status: 503 }),
    made('/base/api/projects/1/dashboards/?limit=2', 1, { retryOf: '503' }),
    made('/base/api/projects/1/dashboards/7/', 2, { cache: 'hit', milliseconds: 0 }),
    made('/base/api/projects/1/dashboards/8/', 2, { shared: true, milliseconds: 1.5, status: 404 }),
  ];
  expect(shownOf(plan, { isRunning: false, milliseconds: 40, calls, messages: 1 })).toMatchObject({
    told: '1–3 REST calls in 2 waves.',
    ran: 'Ran in 40 ms: 2 calls made, 1 from the cache, 1 shared.',
    rows: [
      {
        ...{ count: '2', time: '13 ms', isFailed: true, summary: '2 calls · 503 × 1 · 200 × 1 · 1 sent again' },
        calls: [{ notes: '503 · 12.3 ms' }, { notes: '200 · 12.3 ms · sent again after 503' }],
      },
      {
        ...{ count: '2', time: '2 ms', isFailed: false },
        summary: '2 reads · 200 × 1 · 404 × 1 · 1 from the cache · 1 shared',
        calls: [{ notes: '200 · from the cache' }, { notes: '404 · 1.5 ms · shared with another operation' }],
      },
    ],
  });
});

test('calls go to the nearest wave of their route, what was not made says so, and what no plan has is added', () => {
  const route = { ...row, lower: 0, upper: 1 };
  const spread = { ...plan, calls: [1, 2, 3].map((wave) => ({ ...route, wave })), waves: 3 };
  const calls = [
    made('/api/projects/1/dashboards/7/', 3),
    made('/api/projects/1/dashboards/8/', 1),
    made('/api/organizations/@current/', 2, { status: undefined }),
  ];
  expect(shownOf(spread, { isRunning: false, milliseconds: 1, calls, messages: 1 })).toMatchObject({
    rows: [
      { wave: 1, count: '1', calls: [{ path: '/api/projects/1/dashboards/8/' }] },
      { wave: 2, count: '0', summary: 'not made', planned: '0–1' },
      { wave: 2, count: '1', use: 'not in the plan', isFailed: true, summary: '1 call · no answer' },
      { wave: 3, count: '1', calls: [{ path: '/api/projects/1/dashboards/7/' }] },
    ],
  });
});

test('a row that the cache answered says so in place of a time', () => {
  const calls = [7, 8].map((id) => made(`/api/projects/1/dashboards/${id}/`, 2, { cache: 'stale', milliseconds: 0 }));
  expect(shownOf(plan, { calls, messages: 1, milliseconds: 1 })).toMatchObject({
    ran: 'Ran in 1 ms: no call made, 2 from the cache.',
    rows: [
      {},
      {
        time: 'cached',
        summary: '2 reads · 200 · from the cache',
        calls: [{ notes: '200 · from the cache, stale' }, {}],
      },
    ],
  });
});

test.each([
  [[12.3, 0.4], '1–13 ms'],
  [[0.4, 0.2], '1 ms'],
  [[2920, 80], '0.1–2.9 s'],
  [[2920, 2924], '2.9 s'],
])('calls of %j milliseconds took %s', (times, time) => {
  const calls = times.map((milliseconds) => made('/api/projects/1/dashboards/7/', 2, { milliseconds }));
  expect(shownOf(plan, { calls, messages: 1, milliseconds: 1 })).toMatchObject({ rows: [{ time: '' }, { time }] });
});

test('a row without a parameter is nearer than one with, whose path looks the same', () => {
  const [withId, action] = ['/api/events/{id}/', '/api/events/values/'];
  const both = [withId, action].map((path) => ({ method: 'GET', path, paths: [], lower: 1, upper: 9, wave: 1 }));
  const calls = [made(action, 1), made('/api/events/7/', 1)];
  expect(shownOf({ ...plan, calls: both }, { calls, messages: 1, milliseconds: 1 })).toMatchObject({
    rows: [{ calls: [{ path: '/api/events/7/' }] }, { calls: [{ path: action }] }],
  });
});

test('of a very wide plan so much is shown as a page draws at once, and how much is left out', () => {
  const calls = Array.from({ length: 300 }, (_, index) => ({ ...row, lower: 1, upper: 1, wave: 1 + (index % 40) }));
  const wide = { ...plan, calls, waves: 40, hints: Array.from({ length: 9 }, (_, index) => `hint ${index}`) };
  const run = Array.from({ length: 300 }, () => made('/api/projects/1/dashboards/7/', 1));
  const shown = shownOf(
    { ...wide, calls: [{ ...row, lower: 1, upper: 300, wave: 1 }] },
    { calls: run, messages: 1, milliseconds: 9 },
  );
  expect(shown).toMatchObject({ rows: [{ count: '300', moreCalls: 280 }] });
  const scattered = {
    ...row,
    paths: Array.from({ length: 9 }, (_, index) => `p${index}`),
    lower: 1,
    upper: 1,
    wave: 1,
  };
  expect(shownOf({ ...wide, calls: [scattered] })).toMatchObject({
    rows: [{ use: 'for p0, p1, p2 and 6 more places' }],
  });
  expect(shownOf(wide)).toMatchObject({ moreRows: 240, moreWaves: 10, moreHints: 5 });
  expect(shownOf(wide)).toHaveProperty('rows.length', 60);
});

test.each([
  [{ isRunning: true, messages: 0 }, 'Running…'],
  [
    { isRunning: true, messages: 1, calls: [] },
    '1 message so far. The calls are those of the last message, without polls.',
  ],
  [{ messages: 2, calls: [], isStopped: true }, '2 messages. The calls are those of the last message, without polls.'],
  [{ messages: 0, isStopped: true }, 'Stopped.'],
  [{ messages: 0 }, 'The answer does not list its calls. Its errors say why.'],
])('the run %j is told as one sentence', (run, ran) => {
  expect(shownOf(plan, { milliseconds: 5, ...run })).toMatchObject({ ran });
});

test('what is left of a budget is shown after a run, and stands out if the operation may need more', () => {
  const budget = [
    { surface: 'rest', window: 60, limit: 480, remaining: 2 },
    { surface: 'events', window: 3600, limit: 1200, remaining: 1100 },
  ];
  expect(shownOf(plan, { calls: [], messages: 1, milliseconds: 1, cost: { budget } })).toMatchObject({
    budget: [
      { text: 'rest: 2 of 480 calls in 60 seconds', isShort: true },
      { text: 'events: 1,100 of 1,200 calls in 3,600 seconds', isShort: false },
    ],
  });
});
