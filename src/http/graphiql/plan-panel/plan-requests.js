/** Runs in the page: requests the plan while a reader types. */

/**
 * Milliseconds between GraphiQL's report of a change and the request for a plan. GraphiQL reports a change a tenth of a
 * second after the last key.
 */
const typingPauseMs = 300 - 100;

/**
 * Requests the plan of the latest text, one plan at a time. `post` sends a request and takes a signal that aborts it.
 * `onOutcome` is called with the outcome for the latest text only: a new text aborts the earlier request, and an answer
 * that still arrives is dropped.
 */
function createPlanRequests({ post, onOutcome }) {
  let latest = 0;
  let timer;
  let controller;
  const stop = () => {
    latest += 1;
    clearTimeout(timer);
    controller?.abort();
  };
  const send = async (params, mine) => {
    controller = new AbortController();
    const outcome = await post(params, controller.signal).then(outcomeOf, () => unreachable);
    if (mine === latest) onOutcome(params, outcome);
  };
  return {
    stop,
    /** Requests the plan of these parameters after a pause in which no other plan is wanted. */
    want: (params, pauseMs = typingPauseMs) => {
      stop();
      const mine = latest;
      timer = setTimeout(() => void send(params, mine), pauseMs);
    },
  };
}

/**
 * The plan in a response, or the reason in plain words why there is none. `isPassing` is true if the same text may have
 * a plan later.
 */
async function outcomeOf(response) {
  const answer = await response.json().catch(() => undefined);
  const plan = answer?.extensions?.explain;
  if (plan !== undefined) return { plan };
  return { problem: problemOf(response, answer?.errors ?? []), isPassing: response.status >= 429 };
}

const unreachable = { problem: 'The gateway cannot be reached.', isPassing: true };

/** Texts for errors whose own messages only suit operations that are executed. */
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
