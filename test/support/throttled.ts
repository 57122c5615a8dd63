import { expect } from 'vitest';
import { demoKeys, startWorkspace } from '../../workspace/workspace.ts';
import { budgetOf } from './budgets.ts';
import { inForm } from './form.ts';
import { type Answer, ask, type Request } from './gateway.ts';
import { codesOf, pause, steadily } from './load.ts';
import { reply } from './replies.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const isShort = inForm(1, 0) === 1;

/**
 * The limits of a key: short windows in CI, those of a real key in the whole form. The second window is longer than the
 * test, so that it tells how many calls were counted since the start.
 */
export const rates = isShort ? '20/2,400/600' : '60/60,3000/3600';

/** The limit of that second window. */
const longWindow = inForm(400, 3000);

/** A workspace that throttles, and what it answered. */
export interface Throttled extends AsyncDisposable {
  readonly upstream: Upstream;
  /** The number of requests that it has answered with a status. */
  readonly answered: (status: number) => number;
}

/** Starts the workspace with its throttle behind a server that takes note of what it answers. */
export async function startThrottled(): Promise<Throttled> {
  const workspace = await startWorkspace({ port: 0, host: '127.0.0.1', rates: budgetOf({ rest: rates }).windows });
  const statuses: number[] = [];
  const upstream = await startUpstream(async ({ method, target, headers }) => {
    const { authorization = '' } = headers;
    const response = await fetch(workspace.url + target, { method, headers: { authorization } });
    statuses.push(response.status);
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return reply({ status: response.status, headers: { 'retry-after': retryAfter }, body: await response.text() });
  });
  upstream.release();
  return {
    upstream,
    answered: (status) => statuses.filter((one) => one === status).length,
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      await workspace.close();
    },
  };
}

// On a connection of its own each time, which the next worker in turn gets.
const asOwner: Request = { headers: { authorization: `Bearer ${demoKeys[0]}`, connection: 'close' } };

/** Asks for one project, which is one call; told what it costs. */
export function askOne(url: string, id: number): Promise<Answer> {
  return ask(url, `{ project(id: ${id}) { name } }`, { ...asOwner, extensions: { cost: true } });
}

/** Asks the gateways in turn for three times what a key may call, for five seconds or ten minutes. */
export async function overload(urls: readonly string[]): Promise<readonly Answer[]> {
  const perSecond = inForm(30, 3);
  return steadily(perSecond, inForm(5000, 600_000), (index) => askOne(urls[index % urls.length] ?? '', index + 1));
}

/** Asks until the budget has a call left. */
export async function askUntilAnswered(url: string): Promise<Answer> {
  for (;;) {
    const answer = await askOne(url, 1);
    if (answer.status === 200 && answer.errors === undefined) return answer;
    await pause(50);
  }
}

/**
 * Expects an answer to report as many calls left in the long window as the workspace has not been asked for yet. A call
 * that was given up counts, though it may not have arrived.
 */
export function expectLeft({ extensions }: Answer, { upstream }: Throttled, answers: readonly Answer[]): void {
  const left = longWindow - upstream.requests.length;
  const givenUp = answers.flatMap(codesOf).filter((code) => code === 'UPSTREAM_TIMEOUT').length;
  const remaining: unknown = expect.toSatisfy((told: number) => told <= left && told >= left - givenUp - 1);
  expect(extensions).toMatchObject({ cost: { budget: [{ surface: 'rest' }, { limit: longWindow, remaining }] } });
}
