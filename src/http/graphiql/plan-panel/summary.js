/**
 * Runs in the page: the texts that the panel shows about a plan and about a run of the same operation. The functions
 * are pure.
 */
function shownOf(plan, limits, run) {
  const rows = rowsOf(plan.calls, run?.calls, isStream(run) ? 'not for this message' : 'not made');
  const measures = measuresOf(plan, limits);
  const excesses = measures.filter(({ isOver }) => isOver).map(excessOf);
  const lastWave = Math.max(0, plan.waves, ...rows.map(({ wave }) => wave));
  const shownWaves = Math.min(lastWave, mostShown.waves);
  return {
    ...{ measures, excesses },
    tool: plan.tool,
    told: [plannedOf(plan, excesses.length > 0), firstPartOf(plan)].filter(Boolean).join(' '),
    ran: ranOf(run),
    firstPartAfter: plan.firstPartAfter,
    waves: Array.from({ length: shownWaves }, (_, index) => index + 1),
    moreWaves: lastWave - shownWaves,
    rows: rows.slice(0, mostShown.rows),
    moreRows: Math.max(rows.length - mostShown.rows, 0),
    budget: budgetOf(run, plan),
    // The pieces with odd indexes stood in backticks (see `codeOrText`).
    hints: plan.hints.slice(0, mostShown.hints).map((hint) => hint.split('`')),
    moreHints: Math.max(plan.hints.length - mostShown.hints, 0),
  };
}

/** The most calls, rows and objects of a plan, each beside its limit. */
function measuresOf({ lower, upper, rows, objects }, limits) {
  const measure = (name, most, limit, text = number(most)) => {
    return { name, text, most, limit, share: Math.min(most / limit, 1), isOver: most > limit };
  };
  return [
    measure('REST calls', upper, limits.calls, range(lower, upper)),
    measure('Rows', rows, limits.rows),
    measure('Objects', objects, limits.objects),
  ];
}

function excessOf({ name, most, limit }) {
  const noun = name === 'REST calls' ? name : name.toLowerCase();
  return `Over the limit of ${number(limit)} ${noun}: it may take ${number(most)}, so it is refused before its first call.`;
}

function plannedOf({ lower, upper, waves }, isOver) {
  if (upper === 0) return 'No REST call.';
  const calls = `${range(lower, upper)} REST ${upper === 1 ? 'call' : 'calls'}`;
  const order = upper === 1 ? '' : waves === 1 ? ', sent together' : ` in ${counted(waves, 'wave')}`;
  return `${calls}${order}${isOver ? ', over the limit' : ''}.`;
}

function firstPartOf({ firstPartAfter, waves }) {
  if (firstPartAfter === undefined) return undefined;
  return firstPartAfter === 0
    ? 'The first part needs no call.'
    : `The first part is sent after wave ${firstPartAfter} of ${waves}.`;
}

/**
 * True if a run has got several traces, or was not over after the first one. Only a subscription has a trace in each
 * message; any other operation has one trace, in the last part of its answer.
 */
function isStream({ isRunning = false, isStopped = false, messages = 0 } = {}) {
  return messages > 1 || (messages === 1 && (isRunning || isStopped));
}

function ranOf(run) {
  if (run === undefined) return undefined;
  const { isRunning, isStopped, milliseconds, firstPartMs, calls } = run;
  if (isStream(run))
    return `${counted(run.messages, 'message')}${isRunning ? ' so far' : ''}. The calls are those of the last message, without polls.`;
  if (isRunning) return firstPartMs === undefined ? 'Running…' : `First part in ${number(firstPartMs)} ms…`;
  if (calls === undefined) return isStopped ? 'Stopped.' : 'The answer does not list its calls. Its errors say why.';
  const { length: cached } = calls.filter(isCached);
  const shared = calls.filter((call) => call.shared).length;
  const own = calls.length - cached - shared;
  const notes = [...noted(cached, fromCache), ...noted(shared, 'shared')].map((note) => `, ${note}`).join('');
  const inParts = firstPartMs === undefined ? '' : `, first part in ${number(firstPartMs)}`;
  return `Ran in ${number(milliseconds)} ms${inParts}: ${own === 0 ? 'no call' : counted(own, 'call')} made${notes}.`;
}

/** The calls that the budget of the key has left, one line for each window. */
function budgetOf(run, { upper }) {
  return (run?.cost?.budget ?? []).map(({ surface, limit, remaining, window }) => ({
    text: `${surface}: ${number(remaining)} of ${number(limit)} calls in ${number(window)} seconds`,
    isShort: remaining < upper,
  }));
}
