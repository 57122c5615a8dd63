import { explained, type FailureReason, placeOf, reasonOf } from './failure-reasons.ts';
import { toUpstreamError } from './failures.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';
import { acceptedCodings, decodeBody, textOf } from './transport/content-coding.ts';
import type { RawResponse } from './transport/transport.ts';

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

/** The failure of the API to answer. */
interface Failure {
  readonly reason: FailureReason;
  /** Undefined if a server answered. */
  readonly error?: unknown;
}

/** The failure of the API to answer; undefined if it answered. */
function askOnce({ transport, prefix, maxBodyBytes }: UpstreamResources): Promise<Failure | undefined> {
  const { promise, resolve } = Promise.withResolvers<Failure | undefined>();
  const headers = { accept: 'application/json', 'accept-encoding': acceptedCodings };
  const sent = transport.send(
    { method: 'GET', target: `${prefix}${path}?limit=1`, headers },
    {
      responded: (response) => resolve(judge(response, maxBodyBytes)),
      failed: (error) => resolve({ reason: reasonOf(error) ?? 'OTHER', error }),
    },
  );
  const timer = setTimeout(() => {
    resolve({ reason: 'TIMEOUT' });
    sent.abort();
  }, checkMs);
  return promise.finally(() => clearTimeout(timer));
}

async function judge(response: RawResponse, maxBodyBytes: number): Promise<Failure | undefined> {
  const reason = await reasonIn(response, maxBodyBytes);
  return reason && { reason };
}

async function reasonIn(response: RawResponse, maxBodyBytes: number): Promise<FailureReason | undefined> {
  const { status, headers, body } = response;
  response.release();
  if (status === 404) return 'WRONG_PATH';
  try {
    const coding = headers['content-encoding'];
    const text = coding === undefined ? textOf(body) : await decodeBody(body, coding, maxBodyBytes);
    // No key was sent, so the error cannot hold one.
    if (status < 200 || status > 299) return reasonOf(toUpstreamError(status, headers, text, ''));
    JSON.parse(text);
    return undefined;
  } catch {
    return 'NOT_THE_API';
  }
}
