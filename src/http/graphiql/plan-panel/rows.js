/**
 * Runs in the page: the calls of a plan as rows of a table, with the calls that a run made. The functions are pure:
 * they turn JSON into text.
 */

/**
 * The largest numbers that are shown: rows, hints and waves of a plan, and calls and places of each row. A place is the
 * path of a field that needs the call. A plan may have thousands of these, which would make the page slow.
 */
const mostShown = { rows: 60, places: 3, calls: 20, hints: 4, waves: 30 };

/**
 * The planned calls in the order of their waves, each with the calls of `made` that belong to it. Calls that are not in
 * the plan get rows of their own. `unmade` is the text for a planned call that was not made.
 */
function rowsOf(planned, made, unmade) {
  const entries = planned.map((call, index) => ({ call, id: `planned ${index}`, made: [] }));
  const routes = routesOf(entries);
  const strays = new Map();
  for (const call of made ?? []) (entryFor(routes, call) ?? strayOf(strays, call)).made.push(call);
  const rows = [
    ...entries.map(({ id, call, made: calls }) => ({
      ...plannedRow(id, call),
      ...(made !== undefined && madeOf(calls, unmade)),
    })),
    ...[...strays].map(([id, { call, made: calls }]) => ({ ...strayRow(id, call), ...madeOf(calls) })),
  ];
  return rows.toSorted((one, other) => one.wave - other.wave);
}

function plannedRow(id, { wave, method, path, paths, when, lower, upper }) {
  const places = paths.slice(0, mostShown.places).join(', ');
  const others =
    paths.length > mostShown.places ? ` and ${counted(paths.length - mostShown.places, 'more place')}` : '';
  const condition = when === undefined ? '' : ` (${conditions[when] ?? when})`;
  return { id, wave, method, path, use: `for ${places}${others}${condition}`, planned: range(lower, upper) };
}

/** The conditions under which optional calls are made. */
const conditions = {
  absent: 'only if nothing is found below it',
  'not in the page': 'only if no page of its list has it',
  'not in the answer': 'only if the write does not answer the object',
  'long list': 'only if the list is longer than a page',
};

function strayRow(id, { wave, method, path }) {
  return { id, wave, method, path: withoutQuery(path), use: 'not in the plan' };
}

/**
 * Planned calls, grouped by their routes. Routes with fewer parameters come first. Otherwise, a route that ends in an
 * id could match the path of an action, whose name may look like an id.
 */
function routesOf(entries) {
  const routes = [...Map.groupBy(entries, ({ call: { method, path } }) => `${method} ${path}`).values()];
  return routes
    .map((all) => ({ all, method: all[0].call.method, pattern: patternOf(all[0].call.path) }))
    .toSorted((one, other) => one.pattern.parameters - other.pattern.parameters);
}

/**
 * The planned call that a made call belongs to: the one with the same route in the nearest wave. If two planned calls
 * are equally near, one that still expects a call is preferred.
 */
function entryFor(routes, { method, path, wave }) {
  const bare = withoutQuery(path);
  const route = routes.find((one) => one.method === method && one.pattern.matches(bare));
  const distanceOf = ({ call, made }) => 2 * Math.abs(call.wave - wave) + (made.length < call.upper ? 0 : 1);
  let nearest;
  for (const entry of route?.all ?? []) {
    const distance = distanceOf(entry);
    if (nearest === undefined || distance < nearest.distance) nearest = { entry, distance };
  }
  return nearest?.entry;
}

function strayOf(strays, call) {
  const id = `further ${call.wave} ${call.method} ${withoutQuery(call.path)}`;
  const stray = strays.get(id) ?? { call, made: [] };
  strays.set(id, stray);
  return stray;
}

function withoutQuery(path) {
  return path.split('?', 1)[0];
}

/** Matches the paths of a route by its template. The paths may begin with the base path of the upstream. */
function patternOf(template) {
  const parts = template.split(/\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(`${parts.join('[^/]+')}$`);
  return { parameters: parts.length - 1, matches: (path) => pattern.test(path) };
}

/** The part of a row about the calls that were made. */
function madeOf(calls, unmade) {
  const times = calls.filter(({ cache }) => cache === undefined).map(({ milliseconds }) => milliseconds);
  return {
    count: number(calls.length),
    time: times.length > 0 ? timeOf(Math.min(...times), Math.max(...times)) : calls.length > 0 ? 'cached' : '',
    isFailed: calls.some(hasFailed),
    summary: calls.length === 0 ? unmade : summaryOf(calls),
    calls: calls.slice(0, mostShown.calls).map(detailOf),
    moreCalls: Math.max(calls.length - mostShown.calls, 0),
  };
}

/** A range of milliseconds as text, with only as many digits as are needed to tell calls apart. */
function timeOf(least, most) {
  if (most < 1000) return `${range(Math.ceil(least), Math.ceil(most))} ms`;
  return `${range(Math.round(least / 100) / 10, Math.round(most / 100) / 10)} s`;
}

/** The note on a read that the cache answered without a REST call. */
const fromCache = 'from the cache';

/** True for a read that the cache answered. */
function isCached({ cache }) {
  return cache !== undefined;
}

/** The statuses of calls, and the numbers of those that were cached, shared or sent again. */
function summaryOf(calls) {
  const statuses = Map.groupBy(calls, statusOf);
  const texts = [...statuses].map(([status, { length }]) => (statuses.size === 1 ? status : `${status} × ${length}`));
  const { length: cached } = calls.filter(isCached);
  return [
    // A read that the cache answers is no call.
    counted(calls.length, cached > 0 ? 'read' : 'call'),
    ...texts,
    ...(cached === calls.length ? [fromCache] : noted(cached, fromCache)),
    ...noted(calls.filter(({ shared }) => shared).length, 'shared'),
    ...noted(calls.filter(({ retryOf }) => retryOf !== undefined).length, 'sent again'),
  ].join(' · ');
}

/** The method and the path of a call that was made, with notes about its result. */
function detailOf(call) {
  const { method, path, milliseconds, cache, shared, retryOf } = call;
  const notes = [
    statusOf(call),
    ...(cache === undefined ? [`${number(milliseconds)} ms`] : []),
    ...(cache === 'hit' ? [fromCache] : []),
    ...(cache === 'stale' ? [`${fromCache}, stale`] : []),
    ...(shared ? ['shared with another operation'] : []),
    ...(retryOf === undefined ? [] : [`sent again after ${retryOf}`]),
  ];
  return { method, path, isFailed: hasFailed(call), notes: notes.join(' · ') };
}

function statusOf({ status }) {
  return status === undefined ? 'no answer' : String(status);
}

/** True if a call failed. An absent object is no failure. */
function hasFailed({ status }) {
  return status === undefined || (status >= 400 && status !== 404);
}

/** A note with a count; no note if the count is zero. */
function noted(count, text) {
  return count === 0 ? [] : [`${number(count)} ${text}`];
}

function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function range(lower, upper) {
  return lower === upper ? number(upper) : `${number(lower)}–${number(upper)}`;
}

function number(count) {
  return count.toLocaleString('en');
}
