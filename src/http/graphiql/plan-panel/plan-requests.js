/** Runs in the page: asks for the plan of what is being typed. */

/** Milliseconds between the last key and the request for a plan. GraphiQL itself waits a tenth of a second for a further key. */
const typingPauseMs = 300 - 100;

/**
 * Asks for one plan at a time, that of the latest text. `post` sends a request and takes a signal that aborts it; `onOutcome`
 * hears what came, never of a text that is not the latest any more: its request is aborted, and if its answer comes all the
 * same it is dropped by its number.
 */
function createPlanRequests({ post, onOutcome, setTimer = setTimeout, clearTimer = clearTimeout }) {
  let latest = 0;
  let timer;
  let controller;
  const stop = () => {
    latest += 1;
    clearTimer(timer);
    controller?.abort();
  };
  const send = async (params, mine) => {
    controller = new AbortController();
    const outcome = await post(params, controller.signal).then(outcomeOf, () => unreachable);
    if (mine === latest) onOutcome(params, outcome);
  };
  return {
    stop,
    /** The plan of these parameters, once so many milliseconds have passed without another. */
    want: (params, pauseMs = typingPauseMs) => {
      stop();
      const mine = latest;
      timer = setTimer(() => void send(params, mine), pauseMs);
    },
  };
}

/** The plan that a response has, or in plain words why there is none, and whether the same text may have one later. */
async function outcomeOf(response) {
  const answer = await response.json().catch(() => undefined);
  const plan = answer?.extensions?.explain;
  if (plan !== undefined) return { plan };
  return { problem: problemOf(response, answer?.errors ?? []), isPassing: response.status >= 429 };
}

const unreachable = { problem: 'The gateway cannot be reached.', isPassing: true };

/** Texts about errors whose messages are for operations that run. */
const problems = {
  PERSISTED_DOCUMENT_REQUIRED: 'Only listed documents run here. This text is not one of them, so it has no plan.',
  UNAUTHENTICATED: 'The gateway does not accept this token. Put a valid one into the field at the top.',
};

function problemOf({ status, headers }, errors) {
  const [first] = errors;
  const told =
    problems[first?.extensions?.code] ?? first?.message ?? `The gateway answered HTTP ${status} without a plan.`;
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : '';
  const wait = headers.get('retry-after');
  return `${told}${more}${wait === null ? '' : ` Try again in ${wait} ${wait === '1' ? 'second' : 'seconds'}.`}`;
}
