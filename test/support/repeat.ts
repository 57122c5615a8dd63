import { expect } from 'vitest';
import type { Answer, Request, TestGateway } from './gateway.ts';
import type { Upstream } from './upstream.ts';

/**
 * Asks three times, since operations that are asked again are executed by other code: answers and requests have to be
 * the same. The upstream has recorded the last time only.
 */
export async function askThrice(
  gateway: TestGateway,
  upstream: Upstream,
  query: string,
  request?: Request,
): Promise<Answer> {
  const first = await gateway.ask(query, request);
  const seen = outcomeOf(first, upstream);
  let last = first;
  for (let times = 1; times < 3; times += 1) {
    upstream.reset();
    last = await gateway.ask(query, request);
    expect(outcomeOf(last, upstream)).toEqual(seen);
  }
  expect(gateway.reported).toEqual([]);
  return last;
}

/** What must not differ. Errors of fields that fail at the same time come in any order, and so do requests. */
function outcomeOf({ data, errors }: Answer, upstream: Upstream): unknown {
  return {
    data: data as unknown,
    errors: errors?.map((error) => JSON.stringify(error)).toSorted(),
    requests: upstream.requests.toSorted(),
  };
}
