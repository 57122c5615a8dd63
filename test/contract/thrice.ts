import { expect } from 'vitest';
import { type GraphQLFailure, key, type TestGateway } from '../support/gateway.ts';
import type { Upstream } from '../support/upstream.ts';

/** An answer of the gateway, with the text that it came as. */
export interface TextAnswer {
  readonly status: number;
  readonly body: string;
  readonly data: unknown;
  readonly errors?: readonly GraphQLFailure[];
}

/**
 * Asks three times, since operations that are asked again are executed by other code: answers and requests with their
 * bodies have to be the same, byte for byte. The upstream has recorded the last time only. `variables` is JSON text,
 * because `JSON.stringify` would change long numbers.
 */
export async function askThriceExactly(
  gateway: TestGateway,
  upstream: Upstream,
  query: string,
  variables = '{}',
): Promise<TextAnswer> {
  const first = await askText(gateway, query, variables);
  const seen = outcomeOf(first, upstream);
  let last = first;
  for (let times = 1; times < 3; times += 1) {
    upstream.reset();
    last = await askText(gateway, query, variables);
    expect(outcomeOf(last, upstream)).toEqual(seen);
  }
  expect(gateway.reported).toEqual([]);
  return last;
}

async function askText({ url }: TestGateway, query: string, variables: string): Promise<TextAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
  });
  const body = await response.text();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it really is, the tests find out
  const result = JSON.parse(body) as Pick<TextAnswer, 'data' | 'errors'>;
  return { status: response.status, body, ...result };
}

function outcomeOf({ status, body }: TextAnswer, { records }: Upstream): unknown {
  return { status, body, requests: records.map((record) => [record.method, record.target, record.body]) };
}
