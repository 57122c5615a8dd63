import { type GraphQLFailure, key, type TestGateway } from '../support/gateway.ts';
import { thrice } from '../support/repeat.ts';
import type { Upstream } from '../support/upstream.ts';

/** An answer of the gateway, with the text that it came as. */
export interface TextAnswer {
  readonly status: number;
  readonly body: string;
  readonly data: unknown;
  readonly errors?: readonly GraphQLFailure[];
}

/**
 * Asks three times: answers and requests with their bodies have to be the same, byte for byte. `variables` is JSON text,
 * because `JSON.stringify` would change long numbers.
 */
export function askThriceExactly(
  gateway: TestGateway,
  upstream: Upstream,
  query: string,
  variables = '{}',
): Promise<TextAnswer> {
  const outcomeOf = ({ status, body }: TextAnswer): unknown => ({
    ...{ status, body },
    requests: upstream.records.map((record) => [record.method, record.target, record.body]),
  });
  return thrice(gateway, upstream, () => askText(gateway, query, variables), outcomeOf);
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
