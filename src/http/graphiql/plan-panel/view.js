/** Runs in the page: draws the panel with the React of GraphiQL's bundle. Everything is inserted as text. */

const h = React.createElement;

/** The plugin that GraphiQL shows in its side bar. */
function createPlugin(panel) {
  const Content = () => {
    React.useEffect(panel.open, []);
    return h(RestCalls, { ...React.useSyncExternalStore(panel.subscribe, panel.snapshot), again: panel.again });
  };
  return { title: 'REST calls', icon: WavesIcon, content: Content };
}

/** An icon of bars that begin one after the other, as waves of calls do. */
function WavesIcon() {
  const bars = ['M2 4h7', 'M7 9h7', 'M13 14h5'];
  return h(
    React.Fragment,
    null,
    h(
      'svg',
      { viewBox: '0 0 20 18', fill: 'none', stroke: 'currentColor', strokeWidth: 2.4, strokeLinecap: 'round' },
      bars.map((d) => h('path', { key: d, d })),
    ),
    h('span', { className: 'rest-calls-label' }, 'REST calls'),
  );
}

/** The whole panel, in each of its states. */
function RestCalls({ plan, planKey, problem, isPassing, isAsking, run, runKey, again }) {
  const ownRun = runKey === planKey ? run : undefined;
  const shown = React.useMemo(() => plan && shownOf(plan, settings.limits, ownRun), [plan, ownRun]);
  return h(
    'section',
    { className: 'rest-calls', 'aria-labelledby': 'rest-calls-title', 'aria-busy': isAsking },
    h('h2', { id: 'rest-calls-title' }, 'REST calls'),
    h(
      'div',
      { role: 'status' },
      problem !== undefined && h('p', { className: 'rest-calls-problem' }, problem),
      problem !== undefined &&
        shown &&
        h('p', { className: 'rest-calls-note' }, 'Below is the last plan that the gateway made.'),
      problem === undefined && h('p', null, shown?.told ?? emptyText(isAsking)),
      problem === undefined && !isAsking && shown?.tool && h(Tool, shown.tool),
      problem === undefined && shown?.ran !== undefined && h('p', { className: 'rest-calls-ran' }, shown.ran),
    ),
    problem !== undefined &&
      isPassing &&
      h('button', { type: 'button', className: 'graphiql-button rest-calls-again', onClick: again }, 'Try again'),
    shown && h(Plan, { shown, isStale: problem !== undefined }),
  );
}

/** The cost that agents read, if the open tab is one of their tools. */
function Tool({ name, cost }) {
  return h('p', { className: 'rest-calls-note' }, 'Tool ', h('code', null, name), `: ${cost}`);
}

function emptyText(isAsking) {
  return isAsking ? 'Planning…' : 'Write an operation to see the REST calls that it would make. Planning makes none.';
}

function Plan({ shown, isStale }) {
  const { measures, excesses, hints, moreHints, budget } = shown;
  return h(
    'div',
    { className: isStale ? 'rest-calls-stale' : undefined, 'data-stale': isStale },
    h(
      'dl',
      { className: 'rest-calls-measures' },
      measures.map((measure) => h(Measure, { key: measure.name, ...measure })),
    ),
    excesses.map((text) => h('p', { key: text, className: 'rest-calls-excess' }, text)),
    h(Waves, shown),
    budget.length > 0 && h('h3', null, 'Left in the budget of this key'),
    budget.map(({ text, isShort }) =>
      h('p', { key: text, className: isShort ? 'rest-calls-excess' : 'rest-calls-note' }, text),
    ),
    hints.length > 0 && h('h3', null, 'Hints'),
    hints.length > 0 &&
      h(
        'ul',
        { className: 'rest-calls-hints' },
        hints.map((hint) => h('li', { key: hint.join('`') }, hint.map(codeOrText))),
      ),
    h(More, { count: moreHints, noun: 'hint' }),
  );
}

/** A piece of a hint that was split at its backticks. The pieces with odd indexes stood in backticks. */
function codeOrText(piece, index) {
  return index % 2 === 1 ? h('code', { key: index }, piece) : piece;
}

function Measure({ name, text, limit, share, isOver }) {
  return h(
    'div',
    { className: isOver ? 'rest-calls-over' : undefined },
    h('dt', null, name),
    h('dd', null, h('strong', null, text), ` of ${number(limit)}`),
    h('dd', { className: 'rest-calls-bar', 'aria-hidden': true }, h('span', { style: { width: `${share * 100}%` } })),
  );
}

/** One row for each kind of call, one column for each wave. */
function Waves({ rows, waves, moreRows, moreWaves, firstPartAfter }) {
  if (rows.length === 0) return null;
  return h(
    React.Fragment,
    null,
    h(
      'div',
      // The table can be scrolled, so keyboards must be able to focus it.
      { className: 'rest-calls-waves', role: 'region', 'aria-label': 'Waves of REST calls', tabIndex: 0 },
      h(
        'table',
        null,
        h('caption', null, 'Calls of one wave are sent together, after the wave before.'),
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, 'Call'),
            waves.map((wave) => h(WaveHead, { key: wave, wave, firstPartAfter })),
          ),
        ),
        h(
          'tbody',
          null,
          rows.map((row) => h(Row, { key: row.id, row, waves, firstPartAfter })),
        ),
      ),
    ),
    h(More, { count: moreRows, noun: 'row' }),
    h(More, { count: moreWaves, noun: 'wave' }),
  );
}

function WaveHead({ wave, firstPartAfter }) {
  const isFirstPart = wave === firstPartAfter;
  return h(
    'th',
    { scope: 'col', className: isFirstPart ? 'rest-calls-first-part' : undefined },
    `Wave ${wave}`,
    isFirstPart && h('small', null, 'first part'),
  );
}

function Row({ row, waves, firstPartAfter }) {
  const { wave, method, path, use } = row;
  return h(
    'tr',
    { className: row.isFailed ? 'rest-calls-failed' : undefined },
    h(
      'th',
      { scope: 'row' },
      h('code', null, h('b', null, method), ' ', breakable(path)),
      h('small', null, use),
      row.summary !== undefined && h(Made, row),
    ),
    waves.map((column) =>
      h(
        'td',
        { key: column, className: column === firstPartAfter ? 'rest-calls-first-part' : undefined },
        column === wave && h(Cell, row),
      ),
    ),
  );
}

/** The number of calls, planned and made, and their times. */
function Cell({ planned, count, time }) {
  return h(
    'span',
    { className: count === '0' ? 'rest-calls-cell rest-calls-unmade' : 'rest-calls-cell' },
    h('strong', null, count ?? planned),
    count !== undefined && planned !== undefined && planned !== count && h('small', null, `of ${planned}`),
    time && h('small', { className: 'rest-calls-time' }, time),
  );
}

/** The calls that were made, folded if there are several. */
function Made({ summary, calls, moreCalls }) {
  if (calls.length === 0) return h('small', null, summary);
  return h(
    'details',
    null,
    h('summary', null, summary),
    h(
      'ol',
      null,
      calls.map((call, index) => h(Call, { key: index, ...call })),
    ),
    h(More, { count: moreCalls, noun: 'call' }),
  );
}

function Call({ method, path, notes, isFailed }) {
  return h(
    'li',
    { className: isFailed ? 'rest-calls-failed' : undefined },
    h('code', null, `${method} `, breakable(path)),
    h('small', null, notes),
  );
}

/** The number of rows, waves, calls or hints that are left out, so that the page stays quick. */
function More({ count, noun }) {
  return count > 0 && h('p', { className: 'rest-calls-note' }, `and ${counted(count, `more ${noun}`)}`);
}

/** A path in which lines may break after each segment. */
function breakable(path) {
  return path.split(/(?<=[/?&])/).map((part, index) => h(React.Fragment, { key: index }, part, h('wbr')));
}
