import { expect, test } from 'vitest';
import { runPanelScripts } from '../support/panel-scripts.ts';

/** The panel's requests for plans. */
interface PlanRequests {
  readonly want: (params: string) => void;
  readonly stop: () => void;
}

/** A request for a plan that waits for its answer. */
interface Posted {
  readonly text: string;
  readonly signal: AbortSignal;
  readonly answer: (response: Response | Error) => void;
}

/** Requests for plans whose timers and answers the test has in its hand. */
function startRequests() {
  const timers = new Map<number, () => void>();
  const posted: Posted[] = [];
  const outcomes: unknown[] = [];
  const post = (text: string, signal: AbortSignal): Promise<Response> =>
    new Promise((resolve, reject) => {
      const answer = (response: Response | Error): void =>
        response instanceof Response ? resolve(response) : reject(response);
      posted.push({ text, signal, answer });
    });
  const globals: { requests?: PlanRequests } & Record<string, unknown> = {
    ...{ AbortController, post },
    onOutcome: (text: string, outcome: unknown) => outcomes.push([text, outcome]),
    setTimeout: (task: () => void) => timers.set(timers.size + 1, task).size,
    clearTimeout: (timer: number) => timers.delete(timer),
  };
  const use = 'requests = createPlanRequests({ post, onOutcome })';
  runPanelScripts(['plan-requests'], use, globals);
  const { requests } = globals;
  if (requests === undefined) throw new Error('expected requests');
  const fire = (): void => {
    for (const task of timers.values()) task();
    timers.clear();
  };
  return { requests, posted, outcomes, fire };
}

function planned(upper: number): Response {
  return Response.json({ data: null, extensions: { explain: { upper } } });
}

test('while someone types nothing is asked, and then the plan of the last text', async () => {
  const { requests, posted, outcomes, fire } = startRequests();
  for (const text of ['{ p', '{ pr', '{ pro']) requests.want(text);
  expect(posted).toEqual([]);
  fire();
  expect(posted.map(({ text }) => text)).toEqual(['{ pro']);
  posted[0]?.answer(planned(7));
  await expect.poll(() => outcomes).toEqual([['{ pro', { plan: { upper: 7 } }]]);
});

test('an older answer that comes behind a newer one, although it was given up, is never shown', async () => {
  const { requests, posted, outcomes, fire } = startRequests();
  requests.want('older');
  fire();
  requests.want('newer');
  expect(posted[0]?.signal.aborted).toBe(true);
  fire();
  posted[1]?.answer(planned(2));
  await expect.poll(() => outcomes).toEqual([['newer', { plan: { upper: 2 } }]]);
  posted[0]?.answer(planned(1));
  requests.want('last');
  fire();
  posted[2]?.answer(planned(3));
  await expect.poll(() => outcomes).toHaveLength(2);
  expect(outcomes[1]).toEqual(['last', { plan: { upper: 3 } }]);
});

test('what is stopped is neither sent nor shown', async () => {
  const { requests, posted, outcomes, fire } = startRequests();
  requests.want('sent');
  fire();
  requests.stop();
  posted[0]?.answer(planned(1));
  requests.want('not sent');
  requests.stop();
  fire();
  expect(posted).toHaveLength(1);
  requests.want('last');
  fire();
  posted[1]?.answer(planned(2));
  await expect.poll(() => outcomes).toEqual([['last', { plan: { upper: 2 } }]]);
});

const failing = (code: string, ...messages: string[]): object => ({
  errors: messages.map((message) => ({ message, extensions: { code } })),
});

test.each<[string, Response | Error, string, boolean?]>([
  ['a parse error', Response.json(failing('GRAPHQL_PARSE_FAILED', 'Syntax Error.')), 'Syntax Error.'],
  ['three errors', Response.json(failing('GRAPHQL_VALIDATION_FAILED', 'A.', 'B.', 'C.')), 'A. And 2 more.'],
  [
    'an unlisted document',
    Response.json(failing('PERSISTED_DOCUMENT_REQUIRED', 'No.'), { status: 403 }),
    'Only listed documents run here. This text is not one of them, so it has no plan.',
  ],
  [
    'a token that is not taken',
    Response.json(failing('UNAUTHENTICATED', 'No.'), { status: 401 }),
    'The gateway does not accept this token. Put a valid one into the field at the top.',
  ],
  [
    'a refusal for a while',
    Response.json(failing('RATE_LIMITED', 'Too many.'), { status: 429, headers: { 'retry-after': '42' } }),
    'Too many. Try again in 42 seconds.',
    true,
  ],
  ['a proxy', new Response('<h1>No.</h1>', { status: 502 }), 'The gateway answered HTTP 502 without a plan.', true],
  ['a broken connection', new TypeError('Failed to fetch'), 'The gateway cannot be reached.', true],
])(
  'of %s the panel says in words what is wrong, and whether it may pass',
  async (_what, response, problem, isPassing = false) => {
    const { requests, posted, outcomes, fire } = startRequests();
    requests.want('text');
    fire();
    posted[0]?.answer(response);
    await expect.poll(() => outcomes).toEqual([['text', { problem, isPassing }]]);
  },
);
