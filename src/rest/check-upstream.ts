import { explained, type FailureReason, placeOf, reasonOf } from './failure-reasons.ts';
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
export async function checkUpstream(upstream: UpstreamResources): Promise<string> {
  const failure = await askForProjects(upstream);
  if (failure === undefined) {
    upstream.reachability.answered();
    return 'answers';
  }
  const { reason, error } = failure;
  upstream.reachability.failedFor(reason, error);
  return explained(reason, placeOf(error));
}

interface Failure {
  readonly reason: FailureReason;
  readonly error?: unknown;
}

/** The reason why the API did not answer; undefined if it did. */
async function askForProjects({ transport, prefix }: UpstreamResources): Promise<Failure | undefined> {
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
    return undefined;
  } catch (error) {
    if (status === 404) return { reason: 'WRONG_PATH' };
    if (error instanceof TransportError && error.fault === 'aborted') return { reason: 'TIMEOUT' };
    const reason = reasonOf(error);
    return reason && { reason, error };
  }
}
