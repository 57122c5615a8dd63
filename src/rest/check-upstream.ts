import { explained, type FailureReason, placeOf, reasonOf } from './failure-reasons.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { jsonOf } from './response-content.ts';
import { acceptedCodings } from './transport/content-coding.ts';
import { decodeResponse } from './transport/decode-response.ts';

/** The longest that the upstream may take to answer, in milliseconds. */
const checkMs = 5000;

const path = '/api/projects/';

/**
 * Asks the upstream for its projects once, without a key, and notes the result. Any answer of the API counts, also a
 * refusal. Resolves to a phrase for people; never rejects.
 */
export async function checkUpstream(upstream: UpstreamResources): Promise<string> {
  const failure = await askOnce(upstream);
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

/** The failure of the API to answer; undefined if it answered. */
function askOnce({ transport, prefix, maxBodyBytes }: UpstreamResources): Promise<Failure | undefined> {
  const { promise, resolve } = Promise.withResolvers<Failure | undefined>();
  const failed = (error: unknown): void => {
    const reason = reasonOf(error);
    resolve(reason && { reason, error });
  };
  const headers = { accept: 'application/json', 'accept-encoding': acceptedCodings };
  const sent = transport.send(
    { method: 'GET', target: `${prefix}${path}?limit=1`, headers },
    {
      failed,
      responded: (response) =>
        // No key was sent, so the error cannot hold one.
        decodeResponse(response, '', maxBodyBytes, {
          succeeded: (decoded) => {
            try {
              jsonOf(decoded);
              resolve(undefined);
            } catch (error) {
              failed(error);
            }
          },
          failed: (error) => (response.status === 404 ? resolve({ reason: 'WRONG_PATH' }) : failed(error)),
          later: (read) => read(),
        }),
    },
  );
  const timer = setTimeout(() => {
    resolve({ reason: 'TIMEOUT' });
    sent.abort();
  }, checkMs);
  return promise.finally(() => clearTimeout(timer));
}
