import { explained, placeOf, reasonOf } from './failure-reasons.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { jsonOf } from './response-content.ts';
import { largestBody } from './transport/body-room.ts';
import { acceptedCodings } from './transport/content-coding.ts';
import { atOnce, decodeText, toDecoded } from './transport/decode-response.ts';
import { askOnce, TransportError } from './transport/transport.ts';

/** The longest that the upstream may take to answer, in milliseconds. */
const checkMs = 5000;

const path = '/api/projects/';

/**
 * Asks the upstream for its projects once, without a key, and notes the result. Any answer of the API is a success,
 * even a refusal. Resolves to a phrase for people; never rejects.
 */
export async function checkUpstream({ transport, prefix, reachability }: UpstreamResources): Promise<string> {
  const headers = { accept: 'application/json', 'accept-encoding': acceptedCodings };
  const request = { method: 'GET', target: `${prefix}${path}?limit=1`, headers } as const;
  let status: number | undefined;
  try {
    const response = await askOnce(transport, request, checkMs);
    ({ status } = response);
    const text = await decodeText(response, largestBody, atOnce);
    response.release();
    // No key was sent, so there is none to keep out of the error.
    jsonOf(toDecoded(response, text, ''));
  } catch (error) {
    const isLate = error instanceof TransportError && error.fault === 'aborted';
    const reason = status === 404 ? 'WRONG_PATH' : isLate ? 'TIMEOUT' : reasonOf(error);
    if (reason !== undefined) {
      reachability.failedFor(reason, error);
      return explained(reason, placeOf(error));
    }
  }
  reachability.answered();
  return 'answers';
}
