import { expect } from 'vitest';
import type { Answer, Request, TestGateway } from './gateway.ts';
import type { Upstream } from './upstream.ts';

/**
 * Asks three times, because other code executes operations that are asked again. All outcomes have to be equal. The
 * upstream then has the requests of the last time only.
 */
export async function thrice<Asked>(
  { reported }: TestGateway,
  upstream: Upstream,
  ask: () => Promise<Asked>,
  outcomeOf: (answer: Asked) => unknown,
): Promise<Asked> {
  let last = await ask();
  const seen = outcomeOf(last);
  for (let times = 1; times < 3; times += 1) {
    upstream.reset();
    last = await ask();
    expect(outcomeOf(last)).toEqual(seen);
  }
  expect(reported).toEqual([]);
  return last;
}

/** Asks three times. The order of errors and of requests may differ, because fields may fail at the same time. */
export function askThrice(gateway: TestGateway, upstream: Upstream, query: string, request?: Request): Promise<Answer> {
  const outcomeOf = ({ data, errors }: Answer): unknown => ({
    data: data as unknown,
    errors: errors?.map((error) => JSON.stringify(error)).toSorted(),
    requests: upstream.requests.toSorted(),
  });
  return thrice(gateway, upstream, () => gateway.ask(query, request), outcomeOf);
}
