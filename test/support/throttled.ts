import { demoKeys, startWorkspace } from '../../src/workspace/workspace.ts';
import { budgetOf } from './budgets.ts';
import { inForm } from './form.ts';
import { type Answer, ask, type Request } from './gateway.ts';
import { steadily } from './load.ts';
import { reply } from './replies.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/**
 * What a key may call: short windows in CI, those of a real key in the whole form. The second one is longer than the test,
 * so that it tells how many calls were counted since the start.
 */
export const rates = inForm(0, 1) === 0 ? '20/2,400/600' : '60/60,3000/3600';

/** A workspace that throttles, and what it answered. */
export interface Throttled extends AsyncDisposable {
  readonly upstream: Upstream;
  /** How many requests it has answered with a status. */
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

const asOwner: Request = { headers: { authorization: `Bearer ${demoKeys[0]}` } };

/** Asks for one project, which is one call; told what it costs. */
export function askOne(url: string, id: number): Promise<Answer> {
  return ask(url, `{ project(id: ${id}) { name } }`, { ...asOwner, extensions: { cost: true } });
}

/** Asks the gateways in turn for three times what a key may call, for eight seconds or ten minutes. */
export async function overload(urls: readonly string[]): Promise<readonly Answer[]> {
  const perSecond = inForm(30, 3);
  return steadily(perSecond, inForm(8000, 600_000), (index) => askOne(urls[index % urls.length] ?? '', index + 1));
}
