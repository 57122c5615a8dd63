import { type Answer, key, readAnswer, type TestGateway } from '../support/gateway.ts';
import { thrice } from '../support/repeat.ts';
import type { Upstream } from '../support/upstream.ts';

/** An answer whose tests ask for all of `data`, and for none of its members. */
type ExactAnswer = Omit<Answer, 'data'> & { readonly data: unknown };

/**
 * Asks three times: answers and requests with their bodies have to be the same, byte for byte. `variables` is JSON text,
 * because `JSON.stringify` would change long numbers.
 */
export function askThriceExactly(
  gateway: TestGateway,
  upstream: Upstream,
  query: string,
  variables = '{}',
): Promise<ExactAnswer> {
  const outcomeOf = ({ status, body }: ExactAnswer): unknown => ({
    ...{ status, body },
    requests: upstream.records.map((record) => [record.method, record.target, record.body]),
  });
  return thrice(gateway, upstream, () => askText(gateway, query, variables), outcomeOf);
}

async function askText({ url }: TestGateway, query: string, variables: string): Promise<ExactAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
  });
  return readAnswer(response);
}
